// What the mouse is over and does. Items that lie over each other compete: the one drawn last is
// hit, as the eye expects. Which that is follows from the places of the last frame, at the place of
// the mouse in this one, so that a click right after a move hits.
#pragma once
#include <cstdint>
#include <imgui.h>
#include <vector>

#include "debugger/ui/box.h"

namespace reprise::debugger {

/// What the mouse does with a widget or canvas item in this frame.
struct Hit {
  bool hovered = false;
  bool clicked = false;         // went down and up on it without a drag
  bool double_clicked = false;  // comes with the second click
  bool right_clicked = false;
  bool held = false;  // the button went down on it and is still down
  ImVec2 dragged{};   // since the last frame, while held, once it is more than a click
  float wheel = 0;    // turned while hovered, in steps; positive is up

  /// What an item of a canvas was told goes to the canvas as well.
  void join(const Hit& item) {
    hovered = hovered || item.hovered;
    clicked = clicked || item.clicked;
    double_clicked = double_clicked || item.double_clicked;
    right_clicked = right_clicked || item.right_clicked;
    held = held || item.held;
    dragged = {dragged.x + item.dragged.x, dragged.y + item.dragged.y};
    wheel += item.wheel;
  }
};

class Pointer {
 public:
  /// After ImGui::NewFrame.
  void begin_frame();
  /// An item of the current ImGui window; `visible` is what is not clipped of its box.
  Hit hit(std::uint64_t item, const Box& visible);

 private:
  struct Place {
    std::uint64_t item = 0;
    Box box;
    const void* window = nullptr;
  };
  static constexpr std::uint64_t kNone = 0;

  std::vector<Place> places_, last_places_;
  std::uint64_t over_ = kNone;
  const void* over_window_ = nullptr;
  std::uint64_t pressed_ = kNone;  // the left button went down on it
  std::uint64_t last_clicked_ = kNone;
  bool second_press_ = false;
  bool dragged_ = false;
  ImVec2 step_{};          // of the drag in this frame
  bool released_ = false;  // in this frame
};

}  // namespace reprise::debugger
