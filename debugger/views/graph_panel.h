// The captured graph: folded scopes, data edges, barriers, and where the time goes.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "debugger/views/graph_camera.h"
#include "debugger/views/graph_minimap.h"
#include "debugger/views/graph_painter.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class GraphPanel : public Panel {
 public:
  std::string_view id() const override { return "graph"; }
  std::string_view title() const override { return "Graph"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Gestures gestures() const override;
  Actions actions(Workspace& workspace) override;

 private:
  /// Rebuilds the scene when the capture or the folds changed; what is looked at stays in place.
  void update_scene(const Workspace& workspace);
  void update_camera(Workspace& workspace);
  /// What the colours stand for, if it is neither time nor op.
  void update_values(Workspace& workspace);
  void update_not_finite(Workspace& workspace);
  GraphLook look_at(const Workspace& workspace, const ItemTimes& times) const;
  /// More boxes than this in sight are no widgets: only the one under the mouse is looked for.
  static constexpr std::size_t kMaxWidgets = 400;
  static bool draws_widgets(const GraphPainter& painter) {
    return painter.visible().size() <= kMaxWidgets;
  }
  /// Panning and zooming work wherever the mouse is.
  void navigate(const Hit& hit);
  void handle_canvas(Ui& ui, Workspace& workspace, const GraphPainter& painter);
  void handle_frames(Ui& ui, Workspace& workspace, const GraphPainter& painter);
  void handle_boxes(Ui& ui, Workspace& workspace, const GraphPainter& painter);
  void handle_box(Workspace& workspace, const GraphPainter& painter, std::uint32_t box,
                  const Hit& hit);
  void toggle(Workspace& workspace, std::uint32_t item);
  void select(Workspace& workspace, const Selection& selection);
  void draw_canvas(Ui& ui, Workspace& workspace, const GraphLook& look, GraphPainter& painter);
  void draw_bar(Ui& ui, Workspace& workspace, const Box& bar);
  void draw_crumbs(Ui& ui, Workspace& workspace, const Box& row);
  /// Where the room left of them ends.
  float draw_tools(Ui& ui, Workspace& workspace, const Box& row);
  void publish(Ui& ui, const Workspace& workspace) const;
  void frame_selection(const Workspace& workspace);

  std::shared_ptr<const Capture> capture_;
  std::uint64_t folds_ = 0;  // version that the scene shows
  GraphScene scene_;
  GraphCamera camera_;
  GraphMinimap minimap_;
  bool menu_ = false;                        // was asked for in this frame
  bool look_at_start_ = false;               // of a new capture, once the viewport is known
  std::optional<std::uint32_t> fixed_node_;  // stays where it is when the scene is rebuilt
  std::optional<std::uint32_t> hovered_, hovered_line_;  // of the last frame
  bool over_canvas_ = false;
  bool barriers_ = true;
  /// What values_ were made of.
  struct Made {
    const Capture* capture = nullptr;
    ColourBy by = ColourBy::time;
    std::uint64_t revision = 0, errors = 0;  // of the document; version of the errors
    bool operator==(const Made&) const = default;
  };
  Made made_;
  std::optional<NodeValues> values_;
  std::uint64_t numbers_ = 0;  // their revision, that not_finite_ was made of
  std::vector<bool> not_finite_;
};

}  // namespace reprise::debugger
