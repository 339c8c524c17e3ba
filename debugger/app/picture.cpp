#include "debugger/app/picture.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <stb_image_write.h>
#include <string>

#include "debugger/model/written_file.h"
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
  // stb's own writing to a file does not look at what becomes of it.
  std::string png;
  const auto append = [](void* to, void* bytes, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes),
                                          static_cast<std::size_t>(size));
  };
  if (stbi_write_png_to_func(append, &png, width, height, 4, picture.rgba.data(), 4 * width) == 0) {
    throw Error(ErrorCode::io, "The picture (" + std::to_string(width) + "x" +
                                   std::to_string(height) + " pixels) cannot be made a PNG.");
  }
  write_file(path, [&](std::ostream& out) { out << png; });
}

}  // namespace reprise::debugger
