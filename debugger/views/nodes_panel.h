// The nodes of the capture as a list: filtered, sorted, with their times.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "debugger/model/filter.h"
#include "debugger/ui/table.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class NodesPanel : public Panel {
 public:
  std::string_view id() const override { return "nodes"; }
  std::string_view title() const override { return "Nodes"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;

  std::vector<PanelTable> tables() override { return {{"table", &table_.arranged}}; }

 private:
  enum class Column : std::uint8_t { index, op, scope, p50, p95, share, barrier, kernel, source };

  void refresh(const Workspace& workspace);
  void refresh_bindings(Workspace& workspace);
  void refresh_numbers(Workspace& workspace);
  void sort(const CaptureStatistics& statistics);
  void draw_filter(Ui& ui, Workspace& workspace);
  void draw_rows(Ui& ui, Workspace& workspace);
  TableCell cell(std::uint32_t node, Column column, const CaptureStatistics& statistics) const;
  TableOrder order() const;
  Column sorted_by() const;
  void choose_columns(const Ui& ui, float width, bool timed);

  // What the rows were made of, and the rows.
  std::shared_ptr<const Capture> capture_;
  std::uint64_t revision_ = 0;
  std::string filter_text_;
  NodeFilter filter_;
  std::optional<FilterProblem> problem_;
  std::vector<bool> barriers_;        // one per node
  std::uint64_t numbers_ = 0;         // their revision
  std::vector<bool> not_finite_;      // nodes of which a watched result was not
  std::vector<bool> stale_;           // one per node: memory it was recorded with was freed
  std::uint64_t bindings_ = 0;        // the revision of which stale_ is
  std::vector<std::uint32_t> nodes_;  // rows, sorted

  std::vector<Column> shown_;
  std::vector<TableColumn> columns_;  // of shown_
  TableState table_;
};

}  // namespace reprise::debugger
