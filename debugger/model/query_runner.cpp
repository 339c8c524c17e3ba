#include "debugger/model/query_runner.h"

#include <utility>

#include "debugger/model/latest_read.h"

namespace reprise::debugger {

struct QueryRunner::State {
  std::filesystem::path path;
  LatestRead<SqlResult> read;
};

QueryRunner::QueryRunner(std::filesystem::path path) : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
}

QueryRunner::~QueryRunner() = default;

void QueryRunner::run(std::string sql) {
  state_->read.start([from = state_->path, sql = std::move(sql)](const std::stop_token& stop) {
    return run_sql(from, sql, {}, stop);
  });
}

void QueryRunner::cancel() { state_->read.cancel(); }

bool QueryRunner::running() const { return state_->read.running(); }

bool QueryRunner::poll() { return state_->read.poll(); }

std::uint64_t QueryRunner::finished() const { return state_->read.finished(); }

void QueryRunner::settle() { state_->read.settle(); }

const SqlResult* QueryRunner::result() const { return state_->read.found(); }

const std::string& QueryRunner::error() const { return state_->read.error(); }

}  // namespace reprise::debugger
