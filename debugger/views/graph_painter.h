// Draws the boxes, lines and frames of a graph scene, in the detail that the zoom leaves room for.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "debugger/model/item_times.h"
#include "debugger/model/node_values.h"
#include "debugger/model/workspace.h"
#include "debugger/ui/ui.h"
#include "debugger/views/graph_camera.h"

namespace reprise::debugger {

/// What a frame of the graph panel shows, besides where.
struct GraphLook {
  const Capture& capture;
  const ScopeTree& scopes;
  const GraphScene& scene;
  const ItemTimes& times;
  ColourBy colour_by = ColourBy::time;
  const NodeValues* values = nullptr;             // that colours stand for, unless it is time or op
  const std::vector<bool>* not_finite = nullptr;  // nodes of which a watched result was not
  bool barriers = true;
  std::optional<std::uint32_t> selected{};  // the box that is, or holds, the selection
  std::optional<std::uint32_t> selected_item{};
  std::span<const std::uint32_t> selected_nodes{};  // ascending, if several are
  std::optional<std::uint32_t> hovered{};           // box
  std::optional<std::uint32_t> hovered_line{};      // of scene.lines
};

class GraphPainter {
 public:
  /// Boxes have text from this zoom on.
  static constexpr float kTextZoom = 0.45F;
  static constexpr float kInputsZoom = 0.6F;

  GraphPainter(Ui& ui, const GraphCamera& camera, const GraphLook& look);

  /// Of every box: heat of its time or value, or the op family that takes most of its time.
  const std::vector<ImU32>& colours() const { return colours_; }
  /// The longest time of a box in sight.
  std::uint64_t hottest() const { return hottest_; }
  /// The greatest value of a box.
  double greatest() const { return greatest_; }
  bool has_text() const { return camera_.zoom() >= kTextZoom; }
  /// Boxes with a rectangle on the screen, in recorded order.
  const std::vector<std::uint32_t>& visible() const { return visible_; }

  void draw_frames();
  /// Returns the line under the mouse.
  std::optional<std::uint32_t> draw_lines();
  void draw_boxes();

  /// Parts of a box that is drawn with text, on the screen.
  Box caret_of(std::uint32_t box) const;
  Box strip_of(std::uint32_t box) const;
  Box inputs_of(std::uint32_t box) const;
  Box frame_header(const GraphScene::Frame& frame) const;
  /// Whether one of several selected nodes is in it.
  bool holds_selected(std::uint32_t box) const;
  /// Whether a node in it held a NaN or infinity.
  bool holds_not_finite(std::uint32_t box) const;
  /// What the mouse over a part of a strip points at: an item. Nothing without such a part.
  std::optional<std::uint32_t> repetition_at(std::uint32_t box, ImVec2 mouse) const;

 private:
  void find_colours();
  void find_heat();
  /// Of its value, or of its time; none if it has neither.
  std::optional<double> heat_of(std::uint32_t first, std::uint32_t count) const;
  /// Whether the mouse over something else pales it.
  bool pale(std::uint32_t box) const;
  bool pale_line(const GraphScene::Line& line, std::uint32_t index) const;
  void draw_frame_names(const std::vector<const GraphScene::Frame*>& tall);
  void draw_box(std::uint32_t box);
  void draw_mark(const Box& place) const;
  void draw_box_text(std::uint32_t box, const Box& place, float alpha);
  void draw_inputs(std::uint32_t box, float alpha);
  void draw_strip(std::uint32_t box, float alpha);
  std::string time_text(std::uint32_t box) const;

  Ui& ui_;
  const GraphCamera& camera_;
  const GraphLook& look_;
  std::vector<ImU32> colours_;
  std::vector<std::optional<float>> heat_;  // of boxes, 0 to 1
  std::uint64_t hottest_ = 0;
  double greatest_ = 0;
  std::vector<std::uint32_t> visible_;
  std::vector<bool> near_;  // boxes that the hovered one is connected with, and itself
};

}  // namespace reprise::debugger
