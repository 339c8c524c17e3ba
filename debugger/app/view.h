// What a host shows.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "debugger/app/gui.h"
#include "debugger/app/picture.h"

namespace reprise::debugger {

struct FramePictures {
  std::function<Picture()> pixels;
  /// See svg_picture.h.
  std::function<void(const Box&, const std::filesystem::path&)> write_svg;
};

/// What a view asks of the window around it.
struct HostRequests {
  std::optional<int> zoom;  // 1: a step larger, -1: smaller, 0: as usual
  bool close = false;
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
  std::function<std::string()> title = [] { return std::string(); };
  /// After each frame.
  std::function<HostRequests()> take_requests = [] { return HostRequests(); };
  /// A file that was dropped on the window.
  std::function<void(const std::filesystem::path&)> open_file = [](const auto& /*path*/) {};
  /// After each frame, with what makes pictures of it.
  std::function<void(const FramePictures&)> drawn = [](const auto& /*pictures*/) {};
};

}  // namespace reprise::debugger
