// One SQL query at a time on a worker thread. One thread, the one that draws.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "reprise/profile/sql_query.h"

namespace reprise::debugger {

class QueryRunner {
 public:
  explicit QueryRunner(std::filesystem::path path);
  ~QueryRunner();
  QueryRunner(const QueryRunner&) = delete;
  QueryRunner& operator=(const QueryRunner&) = delete;

  /// Cancels the one that runs.
  void run(std::string sql);
  void cancel();
  bool running() const;
  /// Takes over a finished query; true if there was one.
  bool poll();
  /// How many finished so far; result() and error() change with it only.
  std::uint64_t finished() const;
  /// Until none runs.
  void settle();
  /// Of the last query that finished; null if it failed or there was none.
  const SqlResult* result() const;
  /// Why the last one failed; empty if it did not.
  const std::string& error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::debugger
