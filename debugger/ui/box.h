// A rectangle in pixels; the right and lower edges are outside.
#pragma once
#include <algorithm>
#include <imgui.h>

namespace reprise::debugger {

struct Box {
  ImVec2 min, max;
  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
  bool empty() const { return width() <= 0 || height() <= 0; }
  bool contains(ImVec2 point) const {
    return point.x >= min.x && point.y >= min.y && point.x < max.x && point.y < max.y;
  }
  Box intersection(const Box& other) const {
    return {{std::max(min.x, other.min.x), std::max(min.y, other.min.y)},
            {std::min(max.x, other.max.x), std::min(max.y, other.max.y)}};
  }
};

}  // namespace reprise::debugger
