// What a listing command found, printed as a table for people, as JSON, or as CSV. Keys of JSON and
// titles of CSV are the same and carry units; tables have titles and texts of their own.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "debugger/cli/table.h"

namespace reprise::cli {

enum class Format : std::uint8_t { table, json, csv };

using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// A value with the text that tables have for it.
struct Cell {
  Cell(Value v, std::string t);
  Cell(const std::string& t);  // NOLINT(google-explicit-constructor)
  Cell(const char* t);         // NOLINT(google-explicit-constructor)
  Cell(bool yes);              // NOLINT(google-explicit-constructor)
  template <std::integral T>
  requires(!std::same_as<T, bool>) Cell(T n)  // NOLINT(google-explicit-constructor)
      : Cell(whole(static_cast<std::int64_t>(n))) {}
  template <std::integral T>
  Cell(const std::optional<T>& n)  // NOLINT(google-explicit-constructor)
      : Cell(n ? whole(static_cast<std::int64_t>(*n)) : none()) {}
  /// Nothing: null in JSON.
  static Cell none();

  Value value;
  std::string text;

 private:
  static Cell whole(std::int64_t number);
};

/// Nanoseconds, in tables as microseconds.
Cell nanoseconds(std::optional<std::uint64_t> ns);
/// With that many digits in tables.
Cell real(std::optional<double> value, int digits);

inline constexpr std::nullopt_t kNotInTables = std::nullopt;
struct ListColumn {
  std::string key;                   // of JSON and CSV; empty: only tables have it
  std::optional<std::string> title;  // of tables
  Holds holds = Holds::texts;
};

struct Listing {
  std::string key;  // of the list in JSON
  std::vector<ListColumn> columns;
  std::vector<std::vector<Cell>> rows{};
};

/// A column of rows of a type, as one definition. `cell` may be a member of the row.
template <class Row>
struct RowColumn {
  std::string key;
  std::optional<std::string> title;
  Holds holds = Holds::texts;
  std::function<Cell(const Row&)> cell;
};
template <class Row>
Listing list_of(const std::string& key, const std::vector<RowColumn<Row>>& columns,
                std::type_identity_t<std::span<const Row>> rows) {
  Listing list{key, {}};
  for (const RowColumn<Row>& column : columns) {
    list.columns.push_back({column.key, column.title, column.holds});
  }
  for (const Row& row : rows) {
    std::vector<Cell>& cells = list.rows.emplace_back();
    for (const RowColumn<Row>& column : columns) {
      cells.push_back(column.cell(row));
    }
  }
  return list;
}

/// An object per row.
nlohmann::ordered_json to_json(const Listing& listing);
void print_table(const Listing& listing);
/// The rows alone, as a table or as JSON with sorted keys.
void print_rows(const Listing& listing, bool json);

/// Facts, then lists of rows. CSV has the rows of the first list only.
struct Report {
  void add_fact(const std::string& key, const Cell& value);
  std::vector<std::pair<std::string, Value>> facts{};  // in JSON only
  std::string heading{};                               // a line above the tables; may be empty
  std::vector<Listing> listings{};
  std::vector<std::string> notes{};  // lines below the tables

  void print(Format format) const;
};

}  // namespace reprise::cli
