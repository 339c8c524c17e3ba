// The nodes of the capture as a list: filtered, sorted, with their times.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "debugger/model/filter.h"
#include "debugger/views/columns.h"
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
  static const std::vector<PanelColumn<NodesPanel>>& columns();

  void refresh(const Workspace& workspace);
  void refresh_bindings(Workspace& workspace);
  void refresh_numbers(Workspace& workspace);
  void draw_filter(Ui& ui, Workspace& workspace);
  void draw_rows(Ui& ui, Workspace& workspace);
  TableCell op_cell(std::uint32_t node) const;
  TableCell share_cell(std::uint32_t node) const;

  // What the rows were made of, and the rows.
  std::shared_ptr<const Capture> capture_;
  const CaptureStatistics* statistics_ = nullptr;  // of the document
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

  ColumnTable<NodesPanel> table_{columns()};
};

}  // namespace reprise::debugger
