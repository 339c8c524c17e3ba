// Writes what a query gives into a file, on a worker thread. One thread, the one that draws.
#pragma once
#include <filesystem>
#include <string>

#include "debugger/model/background.h"

namespace reprise::debugger {

class CsvExport {
 public:
  explicit CsvExport(std::filesystem::path database) : database_(std::move(database)) {}
  /// An export that runs already is given up. `file` is replaced; none is left of one that fails.
  void start(const std::string& sql, const std::filesystem::path& file);
  bool running() const { return background_.busy(); }
  /// True if one ended; outcome() says how, for the user.
  bool poll();
  void settle();
  const std::string& outcome() const { return outcome_; }

 private:
  std::filesystem::path database_;
  std::string outcome_;
  bool ended_ = false;     // since the last poll()
  Background background_;  // last: its thread ends before what it uses
};

/// A name nobody uses: "nodes.csv", or "nodes-2.csv" and so on where there is one.
std::filesystem::path free_name(const std::filesystem::path& wanted);

}  // namespace reprise::debugger
