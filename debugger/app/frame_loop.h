// The loop of a window: waits for input, looks what readers finished, and draws when FramePacing
// says so.
#pragma once
#include "debugger/app/frame_pacing.h"
#include "debugger/app/view.h"

namespace reprise::debugger {

/// What the loop needs of a window.
class LoopWindow {
 public:
  virtual ~LoopWindow() = default;
  virtual bool closed() const = 0;
  virtual bool hidden() const = 0;
  /// Hands on the input there is; without any, waits for it as long as that. 0: does not wait.
  virtual void wait_for_input(double seconds) = 0;
  /// Returns true if input is left for the next frame.
  virtual bool draw(const View& view) = 0;
};

/// Until the window is closed. Input and draw() may wake `pacing`. Readers need to wake nobody:
/// while view.busy(), no wait is longer than FramePacing::kBusySeconds, and poll() is called after
/// each.
inline void run_frames(LoopWindow& window, FramePacing& pacing, const View& view) {
  while (!window.closed()) {
    window.wait_for_input(pacing.wait_seconds(window.hidden(), view.busy()));
    if (view.poll()) {
      pacing.wake();
    }
    if (pacing.take_frame(window.hidden()) && window.draw(view)) {
      pacing.wake();
    }
  }
}

}  // namespace reprise::debugger
