// A table that draws only the rows in sight: columns that sort, rows that can be selected, cells of
// text with an optional bar. Used for every list of the debugger.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "debugger/model/table_arrangement.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

struct TableColumn {
  std::string id, title;
  float width = 0;  // at 1x; 0: shares what is left
  Align align = Align::left;
  FontKind font = FontKind::regular;
  bool sortable = false;
};

struct TableCell {
  std::string text{};
  std::string unit{};  // dim, behind the text, in a column of its own
  Colour colour = Colour::text;
  std::optional<double> bar{};   // 0 to 1: a bar beside the text, coloured by heat
  std::optional<Colour> mark{};  // a stripe before the text
};

/// "12.3 us" as a number and its unit.
TableCell number_cell(const std::string& text);
inline TableCell dim_cell(std::string text) {
  return {.text = std::move(text), .colour = Colour::dim};
}

/// Kept by the panel from frame to frame.
struct TableState {
  TableArrangement arranged;
  std::optional<std::size_t> scroll_to;  // a row; consumed
  float sideways = 0;                    // pixels the columns are scrolled to the left
  std::uint64_t followed = 0;  // TableRows::follow, of the row that was brought into sight
};

struct TableRows {
  std::size_t count = 0;
  /// A stable id of a row, part of its path: "nodes/row/23".
  std::function<std::uint64_t(std::size_t row)> id{};
  std::function<TableCell(std::size_t row, std::size_t column)> cell{};
  std::function<bool(std::size_t row)> selected = [](std::size_t) { return false; };
  /// When it is another number, the first selected row is brought into sight.
  std::uint64_t follow = 0;
  /// What they are sorted by unless the user chose another order; empty: nothing that is shown.
  TableOrder usual_order{};
  /// What is said in the place of rows if there are none: "<id>/none".
  std::string none{};
};

struct TableEvents {
  std::optional<std::size_t> clicked;        // a row
  std::optional<std::size_t> right_clicked;  // a row
  std::string right_clicked_text;            // of its cells
  bool sort_changed = false;
};

/// Fills `size` (0: what is left). If the columns with a width need more, Shift and the wheel and a
/// bar at the bottom scroll sideways. The right end of a column can be dragged; a double click
/// there gives the column its own width again. Paths: <id>/header/<column>, with state "ascending"
/// or "descending"; <id>/edge/<column>; <id>/row/<row id>, with the texts of a row joined by two
/// spaces, state "selected"; cells are <id>/row/<row id>/<column>; <id>/sideways.
TableEvents draw_table(Ui& ui, std::string_view id, std::span<const TableColumn> columns,
                       const TableRows& rows, TableState& state, ImVec2 size = {});

}  // namespace reprise::debugger
