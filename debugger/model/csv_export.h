// Writes what a query gives into a file.
#pragma once
#include <filesystem>
#include <stop_token>
#include <string>

namespace reprise::debugger {

struct CsvExport {
  std::string sql;
  std::filesystem::path file;
};

/// Replaces the file; none is left if it fails. Returns the sentence that says what was written.
std::string write_csv(const std::filesystem::path& database, const CsvExport& what,
                      const std::stop_token& stop);

/// A name nobody uses: "nodes.csv", or "nodes-2.csv" and so on where there is one.
std::filesystem::path free_name(const std::filesystem::path& wanted);

}  // namespace reprise::debugger
