#include "debugger/model/csv_export.h"

#include <fstream>
#include <utility>

#include "debugger/model/csv.h"

namespace reprise::debugger {
namespace {

constexpr SqlLimits kLimits{.rows = 1'000'000};

std::string write(const std::filesystem::path& database, const std::string& sql,
                  const std::filesystem::path& file, const std::stop_token& stop) {
  const SqlResult result = run_sql(database, sql, kLimits, stop);
  std::ofstream out(file);
  out << csv_line(result.columns);
  for (const auto& row : result.rows) {
    out << csv_line(row);
  }
  out.close();
  if (out.fail()) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    return "The file (" + file.string() + ") cannot be written.";
  }
  return "Wrote " + std::filesystem::absolute(file).string() +
         (result.truncated ? ", its first " + std::to_string(result.rows.size()) + " rows" : "");
}

}  // namespace

void CsvExport::start(const std::string& sql, const std::filesystem::path& file) {
  background_.cancel();
  settle();
  background_.start([this, sql, file](const std::stop_token& stop) {
    std::string outcome;
    try {
      outcome = write(database_, sql, file, stop);
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& e) {
      outcome = e.what();
    }
    return [this, outcome] {
      outcome_ = outcome;
      ended_ = true;
    };
  });
}

void CsvExport::settle() {
  while (running()) {
    background_.wait();
    background_.poll();
  }
}

bool CsvExport::poll() {
  background_.poll();
  return std::exchange(ended_, false);
}

std::filesystem::path free_name(const std::filesystem::path& wanted) {
  std::filesystem::path name = wanted;
  for (int number = 2; std::filesystem::exists(name); ++number) {
    name = wanted.stem().string() + "-" + std::to_string(number) + wanted.extension().string();
  }
  return name;
}

}  // namespace reprise::debugger
