// The capture on the screen (B) and what it is compared with (A), of the same file or of another:
// structure, times and numbers, node by node.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "debugger/ui/table.h"
#include "debugger/views/diff_choice.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class DiffPanel : public Panel {
 public:
  std::string_view id() const override { return "diff"; }
  std::string_view title() const override { return "Diff"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;

 private:
  void refresh(Workspace& workspace);
  void show();
  void draw_sides(Ui& ui, const CaptureDiff& diff, const Box& box) const;
  void draw_filter(Ui& ui, const Box& box);
  void draw_rows(Ui& ui, Workspace& workspace);
  TableCell cell(std::uint32_t row, std::size_t column) const;

  std::shared_ptr<const Capture> capture_;
  DiffChoice choice_;

  // What the rows were made of, and the rows.
  const CaptureDiff* diff_ = nullptr;  // of the workspace
  std::uint64_t revision_ = 0;
  std::array<bool, kNodeChanges> wanted_{};
  std::array<std::size_t, kNodeChanges> counts_{};
  DiffOrder order_ = DiffOrder::recorded;
  bool descending_ = false;
  std::vector<std::uint32_t> rows_;
  bool timed_ = false;                     // any node, on both sides
  std::optional<std::uint32_t> followed_;  // the selected node whose row was brought into sight
  TableState table_;
};

}  // namespace reprise::debugger
