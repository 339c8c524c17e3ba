#include "debugger/views/graph_camera.h"

#include <algorithm>

namespace reprise::debugger {
namespace {

constexpr float kFurthest = 0.05F;  // a node still is a box of some pixels; the minimap is the map
constexpr float kMargin = 10;       // pixels at 1x
constexpr float kReadable = 0.6F;

}  // namespace

void GraphCamera::set_viewport(const Box& viewport, float scale) {
  viewport_ = viewport;
  scale_ = scale;
}

ImVec2 GraphCamera::to_screen(LayoutPoint point) const {
  const float factor = zoom_ * scale_;
  return {(viewport_.min.x + viewport_.max.x) / 2 + (point.x - centre_.x) * factor,
          (viewport_.min.y + viewport_.max.y) / 2 + (point.y - centre_.y) * factor};
}

LayoutPoint GraphCamera::to_world(ImVec2 pixel) const {
  const float factor = zoom_ * scale_;
  return {centre_.x + (pixel.x - (viewport_.min.x + viewport_.max.x) / 2) / factor,
          centre_.y + (pixel.y - (viewport_.min.y + viewport_.max.y) / 2) / factor};
}

void GraphCamera::pan(ImVec2 pixels) {
  const float factor = zoom_ * scale_;
  move_by({-pixels.x / factor, -pixels.y / factor});
}

void GraphCamera::zoom_by(float factor, ImVec2 fixed) {
  const LayoutPoint before = to_world(fixed);
  zoom_ = std::clamp(zoom_ * factor, kFurthest, kNearest);
  const LayoutPoint after = to_world(fixed);
  move_by({before.x - after.x, before.y - after.y});
}

float GraphCamera::zoom_to_fit(const SceneRect& rect) const {
  const float width = std::max(rect.max.x - rect.min.x, 1.0F) * scale_;
  const float height = std::max(rect.max.y - rect.min.y, 1.0F) * scale_;
  const float room = std::max(viewport_.height() - 2 * kMargin * scale_, 1.0F);
  return std::max(std::min(viewport_.width() / width, room / height), kFurthest);
}

void GraphCamera::frame(const SceneRect& rect, float nearest) {
  zoom_ = std::min(zoom_to_fit(rect), nearest);
  centre_ = rect.centre();
  if (pixels(rect.max.y - rect.min.y) > viewport_.height()) {
    begin_at_top(rect);
  }
}

void GraphCamera::frame_start(const SceneRect& rect) {
  frame(rect);
  if (zoom_ < kReadable) {
    zoom_ = kReadable;
    begin_at_top(rect);
  }
}

void GraphCamera::begin_at_top(const SceneRect& rect) {
  centre_.y = rect.min.y + (viewport_.height() / (2 * scale_) - kMargin) / zoom_;
}

}  // namespace reprise::debugger
