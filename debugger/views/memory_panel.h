// The arena of the plan: a box per place over the steps it lives and the bytes it takes, and how
// many bytes are in use during each step.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "debugger/model/memory_map.h"
#include "debugger/model/visible_range.h"
#include "debugger/ui/table.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class MemoryPanel : public Panel {
 public:
  std::string_view id() const override { return "memory"; }
  std::string_view title() const override { return "Memory"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Gestures gestures() const override;
  Actions actions(Workspace& workspace) override;

  std::vector<PanelTable> tables() override { return {{"peak_list", &peak_table_.arranged}}; }

 private:
  struct Parts {
    Box title, axis, live, map;
  };

  void refresh(const Workspace& workspace);
  static Parts parts_of(const Ui& ui, const Box& all);
  MemoryView view_of(const Box& map) const;
  void draw_title(Ui& ui, const Box& box);
  float draw_legend(Ui& ui, const Box& box) const;
  void draw_axes(Ui& ui, const Parts& parts, const MemoryView& view) const;
  void draw_live(Ui& ui, Workspace& workspace, const Parts& parts, const MemoryView& view,
                 Hit& mouse);
  void draw_peak(Ui& ui, Workspace& workspace, const Box& lane, const MemoryView& view, Hit& mouse);
  void draw_peak_list(Ui& ui, Workspace& workspace, const Box& box);
  void select_live(Workspace& workspace, std::span<const LiveTensor> live);
  /// What was pointed at in the list, or else where what the selected nodes read and write lies,
  /// ascending.
  std::vector<std::uint32_t> selected_storages(const SelectionHistory& history) const;
  void draw_boxes(Ui& ui, Workspace& workspace, const Box& map, const MemoryView& view, Hit& mouse);
  ImU32 colour_of(const Ui& ui, std::uint32_t storage, float alpha) const;
  std::string describe(const MemoryBox& box) const;
  std::string describe_step(std::uint32_t step) const;
  void select_storage(Workspace& workspace, std::uint32_t storage);
  void select_step(Workspace& workspace, std::uint32_t step) const;
  void handle_mouse(const Parts& parts, const Hit& mouse);

  // What the boxes were made of, and the boxes.
  std::shared_ptr<const Capture> capture_;
  MemoryMap map_;
  std::string summary_;
  std::vector<std::string_view> roles_;  // of the legend
  std::vector<Colour> colours_;          // of the storages, by their roles

  std::optional<std::size_t> at_;  // the storage that was pointed at last
  std::vector<LiveTensor> peak_;   // what lives at it
  TableState peak_table_;
  /// What somebody pointed at in that list, while the selection is of that.
  struct Picked {
    std::uint64_t revision = 0;
    std::vector<std::uint32_t> tensors, storages;
  };
  std::optional<Picked> picked_;
  bool menu_ = false;  // was asked for in this frame
  VisibleRange steps_, bytes_;
  bool by_size_ = false;

  MemoryView boxed_;              // of which boxes_ are
  std::vector<MemoryBox> boxes_;  // what is seen of map_
};

}  // namespace reprise::debugger
