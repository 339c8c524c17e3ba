// One SQL query at a time on a worker thread.
#pragma once
#include <filesystem>
#include <string>

#include "debugger/model/worker_read.h"
#include "reprise/sql_query.h"

namespace reprise::debugger {

class QueryRunner : public WorkerRead<SqlResult> {
 public:
  explicit QueryRunner(std::filesystem::path path) : path_(std::move(path)) {}
  /// Cancels the one that runs.
  void run(std::string sql) {
    ask([from = path_, sql = std::move(sql)](const std::stop_token& stop) {
      return run_sql(from, sql, {}, stop);
    });
  }

 private:
  const std::filesystem::path path_;
};

}  // namespace reprise::debugger
