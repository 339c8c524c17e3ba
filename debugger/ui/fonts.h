// The fonts of the debugger, embedded in the program; icons are part of each.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <imgui.h>

namespace reprise::debugger {

enum class FontKind : std::uint8_t {
  regular,
  semibold,      // labels, headings: Inter
  mono,          // numbers, code: JetBrains Mono
  regular_tiny,  // canvases that zoom take the nearest of these and regular
  regular_small,
  regular_large,
  count
};

struct Fonts {
  std::array<ImFont*, static_cast<std::size_t>(FontKind::count)> fonts{};
  ImFont* operator[](FontKind kind) const { return fonts[static_cast<std::size_t>(kind)]; }
};

/// Replaces the fonts of the current ImGui context by those for this scale; the renderer uploads
/// the new atlas.
Fonts build_fonts(float scale);

}  // namespace reprise::debugger
