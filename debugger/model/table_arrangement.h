// How the user arranged a table: what is kept of it over sessions.
#pragma once
#include <map>
#include <optional>
#include <string>

namespace reprise::debugger {

/// Rows by what stands in a column.
struct TableOrder {
  std::string column{};  // its id
  bool descending = true;
  bool operator==(const TableOrder&) const = default;
};

/// No column is narrower, at 1x.
inline constexpr float kMinColumnWidth = 24;

struct TableArrangement {
  std::optional<TableOrder> order;      // none: the table's own
  std::map<std::string, float> widths;  // of columns somebody dragged, by id, at 1x
  bool operator==(const TableArrangement&) const = default;
};

}  // namespace reprise::debugger
