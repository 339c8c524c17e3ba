// The size of text and widgets: 1 is that of a screen with 96 dpi.
#pragma once

namespace reprise::debugger {

inline constexpr float kMinScale = 0.5F, kMaxScale = 4;

/// Returns whether a scale is in range; NaN is not.
bool is_ui_scale(float scale);
/// Throws invalid_argument that names the range.
void require_ui_scale(float scale);
/// Returns the nearest scale in range, and 1 for NaN: what screens report is not checked by anyone.
float nearest_ui_scale(float scale);

/// Zooms in steps that are counted, so that as many steps back give the same scale to the last bit.
class Zoom {
 public:
  explicit Zoom(int steps = 0) : steps_(steps) {}
  /// Returns that of the screen, zoomed, in range.
  float scale(float screen) const;
  /// A step that would change nothing is not counted.
  void in(float screen);
  void out(float screen);
  void reset() { steps_ = 0; }
  /// Larger than the screen's by so many steps; less than 0: smaller.
  int steps() const { return steps_; }

 private:
  int steps_ = 0;
};

}  // namespace reprise::debugger
