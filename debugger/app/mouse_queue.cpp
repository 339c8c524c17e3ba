#include "debugger/app/mouse_queue.h"

namespace reprise::debugger {

void MouseQueue::move(ImVec2 to) { events_.push_back({.kind = Kind::move, .value = to}); }

void MouseQueue::press(ImGuiMouseButton button, bool down) {
  events_.push_back({.kind = Kind::press, .value = {}, .button = button, .down = down});
}

void MouseQueue::turn_wheel(ImVec2 steps) {
  events_.push_back({.kind = Kind::wheel, .value = steps});
}

void MouseQueue::begin_frame() {
  ImGuiIO& io = ImGui::GetIO();
  io.MouseWheel = io.MouseWheelH = 0;
  // ImGui sees one place and one state of the buttons per frame.
  for (bool pressed = false, moved = false; !events_.empty(); events_.pop_front()) {
    const Event& event = events_.front();
    // What is dragged is moved while the button is down, and let go in the frame after that.
    const bool ends_drag = event.kind == Kind::press && !event.down && moved;
    if ((pressed && event.kind != Kind::wheel) || ends_drag) {
      return;
    }
    switch (event.kind) {
      case Kind::move:
        io.MousePos = event.value;
        moved = true;
        break;
      case Kind::press:
        io.MouseDown[event.button] = event.down;
        pressed = true;
        break;
      case Kind::wheel:
        io.MouseWheelH += event.value.x;
        io.MouseWheel += event.value.y;
        break;
    }
  }
}

}  // namespace reprise::debugger
