#include "debugger/model/query_runner.h"

#include <utility>

#include "debugger/model/background.h"
#include "reprise/core/error.h"

namespace reprise::debugger {

struct QueryRunner::State {
  std::filesystem::path path;
  std::optional<std::string> next;  // starts when the one that was cancelled has ended
  std::optional<SqlResult> result;
  std::string error;
  std::uint64_t finished = 0;
  Background background;  // last: its thread ends before what it uses

  void start(std::string sql) {
    background.start([this, from = path, sql = std::move(sql)](const std::stop_token& stop) {
      std::optional<SqlResult> found;
      std::string why;
      try {
        found = run_sql(from, sql, {}, stop);
      } catch (const Cancelled&) {
        throw;
      } catch (const std::exception& e) {
        why = e.what();
      }
      return [this, found = std::move(found), why = std::move(why)]() mutable {
        result = std::move(found);
        error = std::move(why);
        ++finished;
      };
    });
  }
};

QueryRunner::QueryRunner(std::filesystem::path path) : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
}

QueryRunner::~QueryRunner() = default;

void QueryRunner::run(std::string sql) {
  if (state_->background.busy()) {
    state_->background.cancel();
    state_->next = std::move(sql);
  } else {
    state_->start(std::move(sql));
  }
}

void QueryRunner::cancel() {
  state_->next.reset();
  state_->background.cancel();
}

bool QueryRunner::running() const { return state_->background.busy(); }

bool QueryRunner::poll() {
  const bool finished = state_->background.poll();
  if (finished && state_->next) {
    state_->start(*std::exchange(state_->next, {}));
  }
  return finished;
}

std::uint64_t QueryRunner::finished() const { return state_->finished; }

void QueryRunner::settle() {
  while (running()) {
    state_->background.wait();
    poll();
  }
}

const SqlResult* QueryRunner::result() const { return state_->result ? &*state_->result : nullptr; }

const std::string& QueryRunner::error() const { return state_->error; }

}  // namespace reprise::debugger
