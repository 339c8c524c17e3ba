#include <cstdio>

#include <nlohmann/json.hpp>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/hard_end.h"
#include "debugger/cli/print_json.h"
#include "debugger/cli/table.h"
#include "debugger/cli/terminal.h"
#include "debugger/model/csv.h"
#include "debugger/model/printable.h"
#include "reprise/core/error.h"
#include "reprise/sql_query.h"

namespace reprise::cli {
namespace {

constexpr std::int64_t kMaxSeconds = 1'000'000'000;  // clocks count nanoseconds in 64 bits

nlohmann::ordered_json to_json(const SqlValue& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) {
    return *n;
  }
  if (const auto* x = std::get_if<double>(&value)) {
    return *x;
  }
  if (const auto* blob = std::get_if<BlobSize>(&value)) {
    return {{"bytes", blob->bytes}};
  }
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(*text);
}

void print_json(const SqlResult& result) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& values : result.rows) {
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (const SqlValue& value : values) {
      row.push_back(to_json(value));
    }
    rows.push_back(std::move(row));
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["columns"] = result.columns;
  json["rows"] = std::move(rows);
  json["truncated"] = result.truncated;
  cli::print_json(json);
}

std::vector<std::string> texts_of(const std::vector<SqlValue>& row) {
  std::vector<std::string> texts;
  for (const SqlValue& value : row) {
    texts.push_back(debugger::text_of(value));
  }
  return texts;
}

/// A column of numbers is one in every row that has a value.
bool is_number(const SqlResult& result, std::size_t column) {
  bool any = false;
  for (const auto& row : result.rows) {
    const SqlValue& value = row[column];
    if (std::holds_alternative<std::string>(value) || std::holds_alternative<BlobSize>(value)) {
      return false;
    }
    any = any || !std::holds_alternative<std::monostate>(value);
  }
  return any;
}

void print_table(const SqlResult& result) {
  std::vector<Column> columns;
  for (std::size_t c = 0; c < result.columns.size(); ++c) {
    columns.push_back({debugger::printable(result.columns[c]),
                       is_number(result, c) ? Holds::numbers : Holds::texts});
  }
  Table table(std::move(columns));
  for (const auto& row : result.rows) {
    table.add(texts_of(row));
  }
  table.print();
}

}  // namespace

std::size_t positive(const char* option, std::int64_t value, std::int64_t max) {
  if (value <= 0) {
    throw_invalid_argument(option, " is (", value, "), but must be above 0.");
  }
  if (value > max) {
    throw_invalid_argument(option, " is (", value, "), but must be at most ", max, ".");
  }
  return static_cast<std::size_t>(value);
}

void print_sql(const SqlOptions& options) {
  SqlLimits limits;
  limits.rows = positive("--limit", options.limit);
  limits.time = std::chrono::seconds(positive("--timeout", options.timeout_s, kMaxSeconds));
  const Interrupt interrupt;
  const SqlResult result = [&] {
    const HardEnd end(limits.time, interrupt.token());
    return run_sql(options.path, options.query, limits, interrupt.token());
  }();
  if (options.format == Format::json) {
    print_json(result);
  } else if (options.format == Format::csv) {
    std::fputs(debugger::csv_line(result.columns).c_str(), stdout);
    for (const auto& row : result.rows) {
      std::fputs(debugger::csv_line(row).c_str(), stdout);
    }
  } else {
    print_table(result);
  }
  if (result.truncated) {
    std::fprintf(stderr, "There is more than these %zu rows; %s.\n", result.rows.size(),
                 result.rows.size() < limits.rows ? "the values of a result take at most 64 MiB"
                                                  : "--limit says how many are printed");
  }
}

}  // namespace reprise::cli
