// A part of a frame as SVG: shapes as ImGui drew them, texts as texts.
#pragma once
#include <filesystem>
#include <span>

#include "debugger/ui/drawn_text.h"
#include "debugger/ui/fonts.h"

namespace reprise::debugger {

/// What lies in the box of a frame that Ui::prepare_vector_frame() prepared. `background` is what
/// shapes lie on. Throws Error(io).
void write_svg(const ImDrawData& frame, std::span<const DrawnText> texts, const Fonts& fonts,
               const Box& box, ImU32 background, const std::filesystem::path& path);

}  // namespace reprise::debugger
