// Named layouts of the window: which panels are in front, and how large the parts are.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::debugger {

/// Panels by id. Sizes are pixels at 1x.
struct Layout {
  std::string name;
  std::array<std::string, 4> front;  // left, centre, right, bottom
  float left = 400, right = 380, bottom = 230;
  bool operator==(const Layout&) const = default;
};

/// The layout as a window of that size at 1x shows it. The layout itself stays: a larger window
/// shows it again.
Layout fitted(Layout layout, float width, float height);

/// As the debugger comes: one per task.
std::vector<Layout> usual_layouts();

}  // namespace reprise::debugger
