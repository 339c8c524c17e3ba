#include "debugger/model/csv_export.h"

#include "debugger/model/csv.h"
#include "debugger/model/output_file.h"

namespace reprise::debugger {
namespace {

constexpr SqlLimits kLimits{.rows = 1'000'000};

}  // namespace

std::string write_csv(const std::filesystem::path& database, const CsvExport& what,
                      const std::stop_token& stop) {
  const SqlResult result = run_sql(database, what.sql, kLimits, stop);
  write_output(
      what.file,
      [&](std::ostream& out) {
        out << csv_line(result.columns);
        for (const auto& row : result.rows) {
          out << csv_line(row);
        }
      },
      stop);
  return "Wrote " + std::filesystem::absolute(what.file).string() +
         (result.truncated ? ", its first " + std::to_string(result.rows.size()) + " rows" : "");
}

std::filesystem::path free_name(const std::filesystem::path& wanted) {
  std::filesystem::path name = wanted;
  const auto taken = [](const std::filesystem::path& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));  // also by a dead link
  };
  for (int number = 2; taken(name); ++number) {
    name = wanted.stem().string() + "-" + std::to_string(number) + wanted.extension().string();
  }
  return name;
}

}  // namespace reprise::debugger
