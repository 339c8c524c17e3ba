// The capture on the screen (B) and what it is compared with (A), of the same file or of another:
// structure, times and numbers, node by node.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "debugger/views/columns.h"
#include "debugger/views/diff_choice.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class DiffPanel : public Panel {
 public:
  std::string_view id() const override { return "diff"; }
  std::string_view title() const override { return "Diff"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;

  std::vector<PanelTable> tables() override { return {{"table", &table_.arranged}}; }

 private:
  static const std::vector<PanelColumn<DiffPanel>>& columns();
  void refresh(Workspace& workspace);
  void show();
  void draw_sides(Ui& ui, const CaptureDiff& diff, const Box& box) const;
  void draw_filter(Ui& ui, const Box& box);
  void draw_rows(Ui& ui, Workspace& workspace);
  /// The node of the capture on the screen, if it has one.
  std::optional<std::uint32_t> shown_node(std::size_t row) const;
  void select(Workspace& workspace, std::size_t row);
  TableCell change_cell(std::uint32_t row) const;
  const NodeDiff& node(std::uint32_t row) const { return diff_->graph.nodes[row]; }

  std::shared_ptr<const Capture> capture_;
  DiffChoice choice_;

  // What the rows were made of, and the rows.
  Read<std::pair<CaptureOfFile, CaptureOfFile>, CaptureDiff> read_{read_diff_of};
  const CaptureDiff* diff_ = nullptr;  // of read_
  std::uint64_t revision_ = 0;
  std::array<bool, kNodeChanges> wanted_{};
  std::array<std::size_t, kNodeChanges> counts_{};
  std::vector<std::uint32_t> rows_;
  bool timed_ = false;               // any node, on both sides
  std::string common_;               // one line about all of them
  std::uint64_t time_of_a_ = 0;      // of which differences are shares
  std::optional<std::uint32_t> at_;  // the row that was pointed at last
  ColumnTable<DiffPanel> table_{columns()};
};

}  // namespace reprise::debugger
