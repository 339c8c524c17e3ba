// What a host shows.
#pragma once
#include <functional>

#include "debugger/app/gui.h"
#include "debugger/app/picture.h"

namespace reprise::debugger {

struct FramePictures {
  std::function<Picture()> pixels;
  /// See svg_picture.h.
  std::function<void(const Box&, const std::filesystem::path&)> write_svg;
};

struct View {
  DrawUi draw = {};
  /// That the next frame is drawn in.
  std::function<ThemeKind()> theme = [] { return ThemeKind::dark; };
  /// Takes over what changed outside; true if a frame drawn now may look different.
  std::function<bool()> poll = [] { return false; };
  /// poll() will have something to take over soon.
  std::function<bool()> busy = [] { return false; };
  /// Waits until all that was asked for is there, for scripts and pictures.
  std::function<void()> settle = [] {};
  /// After each frame, with what makes pictures of it.
  std::function<void(const FramePictures&)> drawn = [](const auto& /*pictures*/) {};
};

}  // namespace reprise::debugger
