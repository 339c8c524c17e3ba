// The barriers of the plan: before which step, because of whom, and whether each is where it has to
// be.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "debugger/model/barrier_list.h"
#include "debugger/views/columns.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class BarriersPanel : public Panel {
 public:
  std::string_view id() const override { return "barriers"; }
  std::string_view title() const override { return "Barriers"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;

  std::vector<PanelTable> tables() override { return {{"table", &table_.arranged}}; }

 private:
  static const std::vector<PanelColumn<BarriersPanel>>& columns();

  void refresh(const Workspace& workspace);
  void sort() { table_.sort(*this, rows_, usual_order()); }
  /// What costs most first, if that is known.
  TableOrder usual_order() const;
  void draw_filter(Ui& ui);
  void draw_rows(Ui& ui, Workspace& workspace);
  void select(Workspace& workspace, std::size_t row);
  TableCell node_cell(std::optional<std::uint32_t> node, std::optional<std::uint32_t> step) const;

  // What the rows were made of, and the rows.
  std::shared_ptr<const Capture> capture_;
  BarrierCounts counts_;
  std::vector<std::string> tensors_;  // one text per barrier
  std::vector<std::uint32_t> rows_;   // barriers
  std::size_t filter_ = 0;            // a BarrierFilter
  std::optional<std::uint32_t> at_;   // the barrier that was pointed at last
  std::uint64_t revision_ = 0;
  std::vector<std::optional<BarrierTimes>> times_;  // one per barrier
  bool timed_ = false;                              // any of them

  ColumnTable<BarriersPanel> table_{columns()};
};

}  // namespace reprise::debugger
