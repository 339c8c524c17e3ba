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

 private:
  enum class Column : std::uint8_t {
    index,
    step,
    node,
    kind,
    required,
    emitted,
    cause,
    tensors,
    pool,
    offset,
    size,
    reason
  };
  struct ColumnDef;
  static const std::vector<ColumnDef>& column_defs();

  void refresh(const Workspace& workspace);
  void sort();
  void choose_columns(const Ui& ui, float width);
  void draw_filter(Ui& ui);
  void draw_rows(Ui& ui, Workspace& workspace);
  TableCell cell(std::uint32_t barrier, Column column) const;
  std::string node_text(std::optional<std::uint32_t> node) const;

  // What the rows were made of, and the rows.
  std::shared_ptr<const Capture> capture_;
  BarrierCounts counts_;
  std::vector<std::string> tensors_;  // one text per barrier
  std::vector<std::uint32_t> rows_;   // barriers
  std::size_t filter_ = 0;            // a BarrierFilter
  BarrierOrder order_ = BarrierOrder::step;
  bool descending_ = false;

  std::vector<Column> shown_;
  std::vector<TableColumn> columns_;  // of shown_
  TableState table_;
};

}  // namespace reprise::debugger
