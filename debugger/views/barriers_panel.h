// The barriers of the plan: before which step, because of whom, and whether each is where it has to
// be.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "debugger/model/barrier_list.h"
#include "debugger/ui/table.h"
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
  enum class Column : std::uint8_t {
    index,
    cost,
    before,
    after,
    critical,
    step,
    node,
    cause,
    kind,
    emitted,
    tensors,
    size,
    reason
  };
  struct ColumnDef;
  static const std::vector<ColumnDef>& column_defs();

  void refresh(const Workspace& workspace);
  void sort();
  /// What costs most first, if that is known.
  TableOrder usual_order() const;
  void choose_columns(const Ui& ui, float width);
  void draw_filter(Ui& ui);
  void draw_rows(Ui& ui, Workspace& workspace);
  void select(Workspace& workspace, std::size_t row);
  TableCell cell(std::uint32_t barrier, Column column) const;
  std::string node_text(std::optional<std::uint32_t> node) const;

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

  std::vector<Column> shown_;
  std::vector<TableColumn> columns_;  // of shown_
  TableState table_;
};

}  // namespace reprise::debugger
