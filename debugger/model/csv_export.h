// Writes what a query gives into a file, on a worker thread. One thread, the one that draws.
#pragma once
#include <filesystem>
#include <string>

#include "debugger/model/worker_read.h"

namespace reprise::debugger {

/// What is read is the sentence that says what was written.
class CsvExport : public WorkerRead<std::string> {
 public:
  explicit CsvExport(std::filesystem::path database) : database_(std::move(database)) {}
  /// An export that runs already is given up. `file` is replaced; none is left of one that fails.
  void start(const std::string& sql, const std::filesystem::path& file);
  /// How an export ended, once after it did; empty at other times.
  std::string take_outcome();

 private:
  const std::filesystem::path database_;
  std::uint64_t told_ = 0;
};

/// A name nobody uses: "nodes.csv", or "nodes-2.csv" and so on where there is one.
std::filesystem::path free_name(const std::filesystem::path& wanted);

}  // namespace reprise::debugger
