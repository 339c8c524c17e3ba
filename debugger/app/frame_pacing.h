// When a window draws and how long it sleeps: a few frames after whatever happened, none while
// nothing does, none while nobody sees it.
#pragma once

namespace reprise::debugger {

class FramePacing {
 public:
  /// What is new in a frame may move what is below the mouse, and that what is drawn.
  static constexpr int kFramesPerEvent = 3;
  static constexpr double kIdleSeconds = 0.25;  // between two looks at what changes without input
  static constexpr double kBusySeconds = 0.02;  // where something is about to change

  /// Something happened.
  void wake() { frames_left_ = kFramesPerEvent; }
  /// How long input is waited for; 0 if a frame is due.
  double wait_seconds(bool hidden, bool busy) const {
    if (hidden) {
      return kIdleSeconds;
    }
    return frames_left_ > 0 ? 0 : (busy ? kBusySeconds : kIdleSeconds);
  }
  /// Whether to draw one. What happens to a hidden window is drawn when it is seen again.
  bool take_frame(bool hidden) {
    if (hidden || frames_left_ == 0) {
      return false;
    }
    --frames_left_;
    return true;
  }

 private:
  int frames_left_ = kFramesPerEvent;
};

}  // namespace reprise::debugger
