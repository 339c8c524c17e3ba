// What a host shows.
#pragma once
#include <functional>

#include "debugger/app/gui.h"
#include "debugger/app/picture.h"

namespace reprise::debugger {

struct View {
  DrawUi draw = {};
  /// Takes over what changed outside; true if a frame drawn now may look different.
  std::function<bool()> poll = [] { return false; };
  /// poll() will have something to take over soon.
  std::function<bool()> busy = [] { return false; };
  /// Waits until all that was asked for is there, for scripts and pictures.
  std::function<void()> settle = [] {};
  /// After each frame, which the function passed makes a picture of.
  std::function<void(const std::function<Picture()>&)> drawn = [](const auto& /*picture*/) {};
};

}  // namespace reprise::debugger
