#include "debugger/app/picture.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <stb_image_write.h>

#include "debugger/model/output_file.h"

namespace reprise::debugger {

Picture crop(const Picture& picture, const Box& box) {
  const auto cut = [](float at, std::uint32_t max) {
    return static_cast<std::uint32_t>(std::clamp(std::round(at), 0.0F, static_cast<float>(max)));
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
  const auto append = [](void* out, void* bytes, int size) {
    static_cast<std::ostream*>(out)->write(static_cast<const char*>(bytes), size);
  };
  write_output(path, [&](std::ostream& out) {
    if (stbi_write_png_to_func(append, &out, width, height, 4, picture.rgba.data(), 4 * width) ==
        0) {
      out.setstate(std::ios::badbit);
    }
  });
}

}  // namespace reprise::debugger
