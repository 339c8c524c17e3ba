// Which part of the graph's world a viewport shows. The zoom does not know the UI's scale: at zoom
// 1, text of the graph is as large as that of the panels.
#pragma once
#include "debugger/model/graph_scene.h"
#include "debugger/ui/box.h"

namespace reprise::debugger {

class GraphCamera {
 public:
  static constexpr float kNearest = 4;

  /// Before anything else of a frame; `scale` is pixels per world unit at zoom 1.
  void set_viewport(const Box& viewport, float scale);
  const Box& viewport() const { return viewport_; }
  float zoom() const { return zoom_; }

  ImVec2 to_screen(LayoutPoint point) const;
  Box to_screen(const SceneRect& rect) const { return {to_screen(rect.min), to_screen(rect.max)}; }
  LayoutPoint to_world(ImVec2 pixel) const;
  /// Pixels of a length of the world.
  float pixels(float length) const { return length * zoom_ * scale_; }
  /// What of the world is in sight.
  SceneRect visible() const { return {to_world(viewport_.min), to_world(viewport_.max)}; }

  void pan(ImVec2 pixels);
  /// What is under `fixed` stays there.
  void zoom_by(float factor, ImVec2 fixed);
  void look_at(LayoutPoint centre) { centre_ = centre; }
  void move_by(LayoutPoint offset) { centre_ = {centre_.x + offset.x, centre_.y + offset.y}; }
  /// The whole of it in the middle, no larger than `nearest`; the top of what is too long for the
  /// smallest zoom.
  void frame(const SceneRect& rect, float nearest = 1);
  /// The top of it, readable: a graph is longer than a screen.
  void frame_start(const SceneRect& rect);

 private:
  float zoom_to_fit(const SceneRect& rect) const;
  void begin_at_top(const SceneRect& rect);

  Box viewport_{};
  float scale_ = 1, zoom_ = 1;
  LayoutPoint centre_;
};

}  // namespace reprise::debugger
