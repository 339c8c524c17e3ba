// What the mouse did, in order: a button counts where the mouse was when it went down, however
// many events come between two frames.
#pragma once
#include <cstdint>
#include <deque>
#include <imgui.h>

namespace reprise::debugger {

class MouseQueue {
 public:
  /// Pixels; {-FLT_MAX, -FLT_MAX} when it leaves.
  void move(ImVec2 to);
  void press(ImGuiMouseButton button, bool down);
  /// Steps; positive is up.
  void turn_wheel(ImVec2 steps);
  /// Before ImGui::NewFrame: gives ImGui what fits into one frame.
  void begin_frame();
  /// Events wait for a later frame.
  bool pending() const { return !events_.empty(); }

 private:
  enum class Kind : std::uint8_t { move, press, wheel };
  struct Event {
    Kind kind;
    ImVec2 value;
    ImGuiMouseButton button = 0;
    bool down = false;
  };
  std::deque<Event> events_;
};

}  // namespace reprise::debugger
