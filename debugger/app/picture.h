// Pixels of a frame, and their PNG.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "debugger/ui/box.h"

namespace reprise::debugger {

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // rows from the top, 8 bits per channel
  bool operator==(const Picture&) const = default;
};

/// What lies in the box, which is cut to the picture.
Picture crop(const Picture& picture, const Box& box);
/// Throws Error(io).
void write_png(const Picture& picture, const std::filesystem::path& path);

}  // namespace reprise::debugger
