// The columns of a panel's table. Each is one definition: its header, the cell of a row, what rows
// are sorted by, and when it is shown.
#pragma once
#include <algorithm>
#include <concepts>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "debugger/ui/table.h"

namespace reprise::debugger {

template <class P, class Row = std::uint32_t>
struct PanelColumn {
  TableColumn header;
  std::function<TableCell(const P& panel, const Row& row)> cell;
  /// Empty: a click on the header does nothing.
  std::function<void(const P& panel, std::vector<Row>& rows, bool descending)> sort{};
  bool needs_data = false;  // left out if nothing was timed, or compared
  float from_width = 0;     // of the panel at 1x: narrower ones leave it out
};

/// Sorts by key(panel, row), which is asked once per row. Rows with the same key keep their order.
template <class P, class Row = std::uint32_t, class Key>
auto sort_by(Key key) {
  return [key](const P& panel, std::vector<Row>& rows, bool descending) {
    std::vector<std::pair<decltype(key(panel, rows[0])), Row>> keyed;
    keyed.reserve(rows.size());
    for (const Row& row : rows) {
      keyed.emplace_back(key(panel, row), row);
    }
    std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
      return descending ? b.first < a.first : a.first < b.first;
    });
    std::ranges::transform(keyed, rows.begin(), [](const auto& of) { return of.second; });
  };
}

/// A table of those columns, with its state.
template <class P, class Row = std::uint32_t>
class ColumnTable : public TableState {
 public:
  using Columns = std::vector<PanelColumn<P, Row>>;
  explicit ColumnTable(const Columns& columns) { use(columns); }

  /// Shows all of them. They outlive the table.
  void use(const Columns& columns) {
    all_ = &columns;
    choose(std::numeric_limits<float>::max(), true);
  }
  /// Those for a panel of that width at 1x.
  void choose(float width, bool has_data) {
    shown_.clear();
    headers_.clear();
    for (const PanelColumn<P, Row>& column : *all_) {
      if ((has_data || !column.needs_data) && width >= column.from_width) {
        shown_.push_back(&column);
        headers_.push_back(column.header);
        headers_.back().sortable = column.sort != nullptr;
      }
    }
  }
  /// Of what is shown; titles and widths may be changed until the next choice.
  std::vector<TableColumn>& headers() { return headers_; }
  bool shows(std::string_view id) const {
    return std::ranges::find(headers_, id, &TableColumn::id) != headers_.end();
  }
  /// What rows are sorted by: what the user chose, if there is such a column, or else `usual`.
  TableOrder order(const TableOrder& usual) const {
    return arranged.order && find(arranged.order->column) != nullptr ? *arranged.order : usual;
  }
  void sort(const P& panel, std::vector<Row>& rows, const TableOrder& usual) const {
    const TableOrder by = order(usual);
    find(by.column)->sort(panel, rows, by.descending);
  }
  /// See draw_table(). Sets count and cells of `table`, and ids if rows are numbers.
  TableEvents draw(Ui& ui, std::string_view id, const P& panel, const std::vector<Row>& rows,
                   TableRows table, ImVec2 size = {}) {
    table.count = rows.size();
    if constexpr (std::convertible_to<Row, std::uint64_t>) {
      table.id = [&](std::size_t row) { return rows[row]; };
    }
    table.cell = [&](std::size_t row, std::size_t column) {
      return shown_[column]->cell(panel, rows[row]);
    };
    return draw_table(ui, id, headers_, table, *this, size);
  }

 private:
  const PanelColumn<P, Row>* find(std::string_view id) const {
    const auto found = std::ranges::find_if(
        *all_, [&](const auto& column) { return column.header.id == id && column.sort; });
    return found == all_->end() ? nullptr : &*found;
  }

  const Columns* all_ = nullptr;
  std::vector<const PanelColumn<P, Row>*> shown_;
  std::vector<TableColumn> headers_;  // of shown_
};

}  // namespace reprise::debugger
