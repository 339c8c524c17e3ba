#include "debugger/ui/pointer.h"

#include <imgui_internal.h>

namespace reprise::debugger {

void Pointer::begin_frame() {
  const ImGuiIO& io = ImGui::GetIO();
  last_places_.swap(places_);
  places_.clear();
  if (released_) {
    pressed_ = kNone;
    released_ = false;
  }
  const ImGuiWindow* window = ImGui::GetCurrentContext()->HoveredWindow;
  over_ = kNone;
  for (const Place& place : last_places_) {
    if (place.window == window && place.box.contains(io.MousePos)) {
      over_ = place.item;
    }
  }
  over_window_ = window;
  if (io.MouseClicked[ImGuiMouseButton_Left]) {
    pressed_ = over_;
    dragged_ = false;
    second_press_ = io.MouseDoubleClicked[ImGuiMouseButton_Left] && last_clicked_ == over_;
  }
  // What moves less than ImGui's threshold is a click; a drag then begins where the button went
  // down.
  const bool went_on = dragged_;
  dragged_ = dragged_ || ImGui::IsMouseDragging(ImGuiMouseButton_Left);
  const ImVec2 from = io.MouseClickedPos[ImGuiMouseButton_Left];
  step_ = !dragged_ ? ImVec2()
          : went_on ? io.MouseDelta
                    : ImVec2(io.MousePos.x - from.x, io.MousePos.y - from.y);
  released_ = !io.MouseDown[ImGuiMouseButton_Left];
}

Hit Pointer::hit(std::uint64_t item, const Box& visible) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!visible.empty()) {
    places_.push_back({item, visible, ImGui::GetCurrentWindow()});
  }
  Hit hit;
  const bool over = over_ == item && over_window_ == ImGui::GetCurrentWindow();
  const bool down_elsewhere = pressed_ != kNone && pressed_ != item;
  // Of menus within menus all are open to the mouse.
  const bool menu =
      (ImGui::GetCurrentContext()->CurrentWindow->Flags & ImGuiWindowFlags_Popup) != 0;
  hit.hovered = over && !down_elsewhere &&
                ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem |
                                       (menu ? ImGuiHoveredFlags_AllowWhenBlockedByPopup : 0));
  hit.held = pressed_ == item && io.MouseDown[ImGuiMouseButton_Left];
  if (hit.held) {
    hit.dragged = step_;
  }
  if (hit.hovered) {
    hit.wheel = io.MouseWheel;
    hit.right_clicked = io.MouseClicked[ImGuiMouseButton_Right];
    hit.clicked = pressed_ == item && released_ && !dragged_;
    hit.double_clicked = hit.clicked && second_press_;
    if (hit.clicked) {
      last_clicked_ = item;
    }
  }
  return hit;
}

}  // namespace reprise::debugger
