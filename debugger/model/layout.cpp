#include "debugger/model/layout.h"

#include <algorithm>

namespace reprise::debugger {

std::vector<Layout> usual_layouts() {
  return {{"Inspect", {"outline", "graph", "inspector", "timeline"}},
          {"Performance", {"nodes", "graph", "inspector", "statistics"}, 520, 340, 300},
          {"Numerics", {"nodes", "graph", "tensors", "numerics"}, 400, 440, 260},
          {"Memory", {"outline", "graph", "inspector", "memory"}, 320, 340, 430}};
}

Layout fitted(Layout layout, float width, float height) {
  constexpr float kMin = 120;
  // Of the sides, and of what is below; what is in the middle has the rest.
  const float side = std::max(width / 3, width / 2 - kMin);
  const float below = std::max(height / 2, height - kMin);
  layout.left = std::clamp(layout.left, std::min(kMin, side), side);
  layout.right = std::clamp(layout.right, std::min(kMin, side), side);
  layout.bottom = std::clamp(layout.bottom, std::min(kMin / 2, below), below);
  return layout;
}

}  // namespace reprise::debugger
