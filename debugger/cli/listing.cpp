#include "debugger/cli/listing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "debugger/cli/print_json.h"
#include "debugger/model/csv.h"
#include "debugger/model/printable.h"

namespace reprise::cli {
namespace {

using nlohmann::ordered_json;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

ordered_json to_json(const Value& value) {
  return std::visit(Overloaded{[](std::monostate) { return ordered_json(); },
                               [](const auto& v) { return ordered_json(v); }},
                    value);
}

std::string csv_text(const Value& value) {
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](bool yes) { return std::string(yes ? "1" : "0"); },
                               [](std::int64_t n) { return std::to_string(n); },
                               [](double x) { return ordered_json(x).dump(); },
                               [](const std::string& text) { return debugger::csv_field(text); }},
                    value);
}

void print_csv(const Listing& listing) {
  std::string line;
  for (const ListColumn& column : listing.columns) {
    line += (line.empty() ? "" : ",") + debugger::csv_field(column.key);
  }
  std::printf("%s\n", line.c_str());
  for (const auto& cells : listing.rows) {
    line.clear();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      line += (c == 0 ? "" : ",") + csv_text(cells[c].value);
    }
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace

ordered_json to_json(const Listing& listing) {
  ordered_json rows = ordered_json::array();
  for (const auto& cells : listing.rows) {
    ordered_json row = ordered_json::object();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (!listing.columns[c].key.empty()) {
        row[listing.columns[c].key] = to_json(cells[c].value);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_table(const Listing& listing) {
  std::vector<Column> columns;
  for (const ListColumn& column : listing.columns) {
    if (column.title) {
      columns.push_back({*column.title, column.holds});
    }
  }
  Table table(std::move(columns));
  for (const auto& cells : listing.rows) {
    std::vector<std::string> texts;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (listing.columns[c].title) {
        texts.push_back(cells[c].text);
      }
    }
    table.add(texts);
  }
  table.print();
}

void print_rows(const Listing& listing, bool json) {
  if (json) {
    print_json(nlohmann::json(to_json(listing)));
  } else {
    print_table(listing);
  }
}

Cell::Cell(Value v, std::string t) : value(std::move(v)), text(std::move(t)) {}

Cell::Cell(const std::string& t) : value(t), text(t) {}

Cell::Cell(const char* t) : Cell(std::string(t)) {}

Cell::Cell(bool yes) : value(yes), text(yes ? "yes" : "no") {}

Cell Cell::none() { return {Value(), ""}; }

Cell Cell::whole(std::int64_t number) { return {Value(number), std::to_string(number)}; }

Cell nanoseconds(std::optional<std::uint64_t> ns) {
  Cell cell(ns);
  cell.text = microseconds(ns);
  return cell;
}

Cell real(std::optional<double> value, int digits) {
  return value && std::isfinite(*value) ? Cell(Value(*value), number(*value, digits))
                                        : Cell::none();
}

void Report::add_fact(const std::string& key, const Cell& value) {
  facts.emplace_back(key, value.value);
}

void Report::print(Format format) const {
  if (format == Format::csv) {
    return print_csv(listings.front());
  }
  if (format == Format::json) {
    ordered_json json = ordered_json::object();
    for (const auto& [key, value] : facts) {
      json[key] = to_json(value);
    }
    for (const Listing& listing : listings) {
      json[listing.key] = to_json(listing);
    }
    return print_json(json);
  }
  if (!heading.empty()) {
    std::printf("%s\n", debugger::printable(heading).c_str());
  }
  for (std::size_t l = 0; l < listings.size(); ++l) {
    if (l > 0) {
      std::printf("\n%s\n", listings[l].key.c_str());
    }
    print_table(listings[l]);
  }
  for (const std::string& note : notes) {
    std::printf("%s\n", debugger::printable(note).c_str());
  }
}

}  // namespace reprise::cli
