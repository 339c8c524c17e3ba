#include "debugger/app/picture.h"

#include <algorithm>
#include <cmath>
#include <stb_image_write.h>

#include "reprise/core/error.h"

namespace reprise::debugger {

Picture crop(const Picture& picture, const Box& box) {
  const auto cut = [](float at, std::uint32_t most) {
    return static_cast<std::uint32_t>(std::clamp(std::round(at), 0.0F, static_cast<float>(most)));
  };
  const std::uint32_t left = cut(box.min.x, picture.width);
  const std::uint32_t top = cut(box.min.y, picture.height);
  Picture part{.width = std::max(cut(box.max.x, picture.width), left) - left,
               .height = std::max(cut(box.max.y, picture.height), top) - top,
               .rgba = {}};
  for (std::uint32_t y = top; y < top + part.height; ++y) {
    const auto row =
        picture.rgba.begin() + 4 * (static_cast<std::ptrdiff_t>(y) * picture.width + left);
    part.rgba.insert(part.rgba.end(), row, row + 4 * static_cast<std::ptrdiff_t>(part.width));
  }
  return part;
}

void write_png(const Picture& picture, const std::filesystem::path& path) {
  const auto width = static_cast<int>(picture.width);
  const auto height = static_cast<int>(picture.height);
  if (stbi_write_png(path.c_str(), width, height, 4, picture.rgba.data(), 4 * width) == 0) {
    throw Error(ErrorCode::io, "The picture (" + std::to_string(width) + "x" +
                                   std::to_string(height) + " pixels) cannot be written to (" +
                                   path.string() + ").");
  }
}

}  // namespace reprise::debugger
