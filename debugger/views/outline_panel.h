// The scopes of the capture as a tree, with the time spent in each.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/item_times.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class OutlinePanel : public Panel {
 public:
  std::string_view id() const override { return "outline"; }
  std::string_view title() const override { return "Outline"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Gestures gestures() const override;
  Actions actions(Workspace& workspace) override;

 private:
  struct Row {
    std::uint32_t item = 0;
    bool open = false;  // its children follow
  };
  /// x of the columns of a row, from its left edge.
  struct Columns {
    float bar = 0, time = 0, share = 0, right = 0;
  };

  /// Finds the rows anew when the capture, the folds or the filter changed.
  void update_rows(const Workspace& workspace);
  void draw_header(Ui& ui, const Columns& columns) const;
  static void select(Workspace& workspace, const Row& row);
  void draw_rows(Ui& ui, Workspace& workspace, const Columns& columns);
  void draw_row(Ui& ui, Workspace& workspace, const Row& row, const Box& box,
                const Columns& columns, const ItemTimes& times);
  void draw_name(Ui& ui, const Row& row, const ScopeTree::Item& item, const std::string& name,
                 Colour family, const Box& box) const;
  /// The row of the selection, or of what it is folded into.
  std::optional<std::size_t> selected_row(const Workspace& workspace) const;

  std::shared_ptr<const Capture> capture_;
  std::uint64_t folds_ = 0;
  std::string filter_, shown_filter_;
  std::vector<Row> rows_;
  bool menu_ = false;          // was asked for in this frame
  std::uint64_t hottest_ = 0;  // of the rows that are not open
  Selection selection_;        // that was scrolled to
};

}  // namespace reprise::debugger
