// What a window shows, in a file: for programs that drive it as a person does, such as tests.
#pragma once
#include <cstdint>
#include <filesystem>

#include "debugger/ui/widget_registry.h"

namespace reprise::debugger {

struct WindowState {
  std::uint64_t frames = 0;  // drawn so far
  /// Buttons and keys, without modifiers, that were let go so far, and turns of the wheel.
  std::uint64_t inputs = 0;
  /// All input was taken, nothing is read, and no frame is drawn until something happens.
  bool still = false;
  std::uint32_t width = 0, height = 0;  // pixels
  float scale = 1;
};

/// Replaces the file by an object of JSON: the members of `state`, "widgets" with the box, text and
/// state of each path, "values" and
/// "overflows". Throws Error(io).
void write_window_state(const WindowState& state, const WidgetRegistry& drawn,
                        const std::filesystem::path& file);

}  // namespace reprise::debugger
