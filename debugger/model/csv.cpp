#include "debugger/model/csv.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "debugger/model/printable.h"

namespace reprise::debugger {

namespace {

/// A field without its quotes.
std::string harmless(const std::string& text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r\n").find(text[0]) != std::string_view::npos;
  std::string safe = formula ? "'" : "";
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\t\"", begin), text.size());
    safe += printable(std::string_view(text).substr(begin, end - begin));
    if (end < text.size()) {
      safe += text[end] == '"' ? "\"\"" : std::string(1, text[end]);
    }
    begin = end + 1;
  }
  return safe;
}

}  // namespace

std::string csv_field(const std::string& text) {
  const bool quoted = text.find_first_of(",\"\n\r") != std::string::npos;
  return quoted ? quoted_csv_field(text) : harmless(text);
}

std::string quoted_csv_field(const std::string& text) { return '"' + harmless(text) + '"'; }

std::string text_of(const SqlValue& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) {
    return std::to_string(*n);
  }
  if (const auto* x = std::get_if<double>(&value)) {
    return nlohmann::json(*x).dump();
  }
  if (const auto* blob = std::get_if<BlobSize>(&value)) {
    return "(" + std::to_string(blob->bytes) + " bytes)";
  }
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

std::string csv_line(const std::vector<std::string>& texts) {
  return csv_line(std::vector<SqlValue>(texts.begin(), texts.end()));
}

std::string csv_line(const std::vector<SqlValue>& values) {
  std::string line;
  for (std::size_t c = 0; c < values.size(); ++c) {
    const auto* text = std::get_if<std::string>(&values[c]);
    line += (c == 0 ? "" : ",") + (text == nullptr ? text_of(values[c]) : csv_field(*text));
  }
  return line + '\n';
}

}  // namespace reprise::debugger
