#include "bench/llm_row.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <utility>

#include "debugger/model/csv.h"
#include "framework/programs/json_output.h"
#include "reprise/core/printable.h"

namespace reprise::bench {
namespace {

using Json = nlohmann::ordered_json;

/// With two decimals.
std::string text_of(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << value;
  return text.str();
}

std::string bytes_text(std::uint64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1024.0 * 1024.0);
  return mib < 1024 ? text_of(mib) + " MiB" : text_of(mib / 1024) + " GiB";
}

std::string count_text(std::uint64_t count) {
  const auto n = static_cast<double>(count);
  return n < 1e9 ? text_of(n / 1e6) + " M" : text_of(n / 1e9) + " B";
}

struct MarkdownColumn {
  const char* title;
  int width;
  bool left;
  std::string (*text)(const LlmRow& row);
};

const std::array kMarkdown{
    MarkdownColumn{"model", 20, true,
                   [](const LlmRow& r) { return printable(r.record.model_type); }},
    MarkdownColumn{"size", 10, false,
                   [](const LlmRow& r) { return bytes_text(r.record.model_size_bytes); }},
    MarkdownColumn{"params", 10, false,
                   [](const LlmRow& r) { return count_text(r.record.model_n_params); }},
    MarkdownColumn{"backend", 7, true, [](const LlmRow& r) { return r.device.backend; }},
    MarkdownColumn{"threads", 7, false,
                   [](const LlmRow& r) {
                     return r.record.n_threads == 0 ? "-" : std::to_string(r.record.n_threads);
                   }},
    MarkdownColumn{"n_batch", 7, false,
                   [](const LlmRow& r) { return std::to_string(r.record.n_batch); }},
    MarkdownColumn{"mode", 8, true, [](const LlmRow& r) { return r.mode; }},
    MarkdownColumn{"precision", 9, true, [](const LlmRow& r) { return r.record.precision; }},
    MarkdownColumn{"test", 12, false, [](const LlmRow& r) { return r.record.test; }},
    MarkdownColumn{"t/s", 20, false,
                   [](const LlmRow& r) {
                     return text_of(r.record.avg_ts) + " ± " + text_of(r.record.stddev_ts);
                   }},
    MarkdownColumn{"median", 10, false,
                   [](const LlmRow& r) { return text_of(r.record.median_ts); }},
    MarkdownColumn{"q1", 10, false, [](const LlmRow& r) { return text_of(r.q1_ts); }},
    MarkdownColumn{"q3", 10, false, [](const LlmRow& r) { return text_of(r.q3_ts); }},
};

void print_cell(std::ostream& out, const MarkdownColumn& column, const std::string& text) {
  out << "| " << (column.left ? std::left : std::right) << std::setw(column.width) << text << ' ';
}

void print_markdown_head(std::ostream& out) {
  for (const MarkdownColumn& c : kMarkdown) {
    print_cell(out, c, c.title);
  }
  out << "|\n";
  for (const MarkdownColumn& c : kMarkdown) {
    const std::string dashes(static_cast<std::size_t>(c.width) - 1, '-');
    print_cell(out, c, dashes + (c.left ? "-" : ":"));
  }
  out << "|\n";
}

void print_markdown(std::ostream& out, const LlmRow& row) {
  for (const MarkdownColumn& c : kMarkdown) {
    print_cell(out, c, c.text(row));
  }
  out << "|\n";
}

/// A string of SQL.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : printable(text)) {
    result += std::string(c == '\'' ? 2 : 1, c);
  }
  return result + "'";
}

/// What `part` makes of the name and value of each column; lists are none, as in llama-bench.
template <class Part>
std::string columns(const Json& row, Part part) {
  std::string text;
  for (const auto& [name, value] : row.items()) {
    if (!value.is_array()) {
      text += (text.empty() ? "" : ",") + part(name, value);
    }
  }
  return text;
}

std::string csv_names(const Json& row) {
  return columns(
      row, [](const std::string& name, const Json&) { return debugger::quoted_csv_field(name); });
}

std::string csv_values(const Json& row) {
  return columns(row, [](const std::string&, const Json& value) {
    return value.is_string() ? debugger::quoted_csv_field(value.get<std::string>())
                             : '"' + programs::json_text(value) + '"';
  });
}

std::string sql_names(const Json& row) {
  return columns(row, [](const std::string& name, const Json&) { return name; });
}

std::string sql_values(const Json& row) {
  return columns(row, [](const std::string&, const Json& value) {
    return value.is_string() ? quoted(value.get<std::string>()) : programs::json_text(value);
  });
}

}  // namespace

Json to_json(const LlmRow& row) {
  const BenchmarkRecord& r = row.record;
  const char* const workers = std::getenv("LP_NUM_THREADS");  // of the software Vulkan driver
  return {{"backends", row.device.backend},
          {"devices", row.device.name},
          {"driver", row.device.driver_info},
          {"LP_NUM_THREADS", workers == nullptr ? Json() : Json(workers)},
          {"model_filename", row.model_filename},
          {"model_type", r.model_type},
          {"model_size", r.model_size_bytes},
          {"model_n_params", r.model_n_params},
          {"n_batch", r.n_batch},
          {"n_threads", r.n_threads},
          {"mode", row.mode},
          {"precision", r.precision},
          {"n_prompt", r.n_prompt},
          {"n_gen", r.n_gen},
          {"n_depth", r.n_depth},
          {"test", r.test},
          {"test_time", r.test_time},
          {"avg_ns", std::llround(r.avg_ns)},
          {"stddev_ns", std::llround(r.stddev_ns)},
          {"avg_ts", r.avg_ts},
          {"stddev_ts", r.stddev_ts},
          {"median_ts", r.median_ts},
          {"q1_ts", row.q1_ts},
          {"q3_ts", row.q3_ts},
          {"samples_ns", r.samples_ns},
          {"samples_ts", row.samples_ts}};
}

LlmPrinter::LlmPrinter(std::ostream& out, std::string format)
    : out_(out), format_(std::move(format)) {}

void LlmPrinter::row(const LlmRow& row) {
  const bool first = std::exchange(first_, false);
  const Json json = to_json(row);
  if (format_ == "md") {
    if (first) {
      print_markdown_head(out_);
    }
    print_markdown(out_, row);
  } else if (format_ == "json") {
    out_ << (first ? "[\n" : ",\n") << programs::json_text(json, 2);
  } else if (format_ == "csv") {
    out_ << (first ? csv_names(json) + "\n" : "") << csv_values(json) << '\n';
  } else {
    if (first) {
      out_ << "CREATE TABLE IF NOT EXISTS llama_bench (" << sql_names(json) << ");\n";
    }
    out_ << "INSERT INTO llama_bench (" << sql_names(json) << ") VALUES (" << sql_values(json)
         << ");\n";
  }
  out_ << std::flush;
}

void LlmPrinter::end() {
  if (format_ == "json") {
    out_ << (first_ ? "[]\n" : "\n]\n");
  }
}

}  // namespace reprise::bench
