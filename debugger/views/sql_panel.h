// Questions in SQL to the database, and their answers as a table and a chart; rows that name a node
// select it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/saved_queries.h"
#include "debugger/ui/table.h"
#include "debugger/views/panel.h"
#include "debugger/views/query_chart_view.h"
#include "debugger/views/row_menu.h"

namespace reprise::debugger {

class SqlPanel : public Panel {
 public:
  std::string_view id() const override { return "sql"; }
  std::string_view title() const override { return "SQL"; }
  void draw(Ui& ui, Workspace& workspace) override;
  /// What stands in the editor.
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;

 private:
  void refresh(Ui& ui, const Workspace& workspace);
  void choose_columns(Ui& ui, const SqlResult& result);
  void draw_bar(Ui& ui, Workspace& workspace, const Box& box);
  void draw_result(Ui& ui, Workspace& workspace);
  void draw_table_of(Ui& ui, Workspace& workspace, const SqlResult& result, const Box& box);
  /// Those that the rows name, in any order.
  std::vector<std::uint32_t> nodes_of(const Capture& capture, const SqlResult& result) const;
  void select(Workspace& workspace, std::size_t row);
  void sort(const SqlResult& result);
  /// The node of the capture that is shown which a row names: by its column node, node_idx
  /// or node_id and, if it has one, graph_id.
  std::optional<std::uint32_t> node_of(const Capture& capture,
                                       const std::vector<SqlValue>& row) const;

  std::optional<CaptureId> capture_;  // what queries_ are about
  std::vector<SavedQuery> queries_;
  std::string text_;

  // Of the result.
  std::uint64_t revision_ = 0;  // of the result
  std::vector<TableColumn> columns_;
  std::vector<std::size_t> order_;  // its rows, sorted
  std::optional<std::size_t> node_column_, graph_column_;
  std::optional<std::size_t> at_;  // the row that was chosen last
  TableState table_;
  RowMenu menu_;
  bool charted_ = false;
  QueryChartView chart_;
};

}  // namespace reprise::debugger
