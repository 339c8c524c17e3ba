#include "debugger/model/csv_export.h"

#include "debugger/model/csv.h"
#include "debugger/model/output_file.h"

namespace reprise::debugger {
namespace {

constexpr SqlLimits kLimits{.rows = 1'000'000};

std::string write(const std::filesystem::path& database, const std::string& sql,
                  const std::filesystem::path& file, const std::stop_token& stop) {
  const SqlResult result = run_sql(database, sql, kLimits, stop);
  write_output(
      file,
      [&](std::ostream& out) {
        out << csv_line(result.columns);
        for (const auto& row : result.rows) {
          out << csv_line(row);
        }
      },
      stop);
  return "Wrote " + std::filesystem::absolute(file).string() +
         (result.truncated ? ", its first " + std::to_string(result.rows.size()) + " rows" : "");
}

}  // namespace

void CsvExport::start(const std::string& sql, const std::filesystem::path& file) {
  ask([from = database_, sql, file](const std::stop_token& stop) {
    return write(from, sql, file, stop);
  });
}

std::string CsvExport::take_outcome() {
  if (told_ == finished()) {
    return {};
  }
  told_ = finished();
  return result() != nullptr ? *result() : error();
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
