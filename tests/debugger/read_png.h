// The pixels of a PNG file; none if it cannot be read.
#pragma once
#include <filesystem>
#include <stb/stb_image.h>

#include "debugger/app/picture.h"

namespace reprise::debugger {

inline Picture read_png(const std::filesystem::path& file) {
  int width = 0, height = 0, channels = 0;
  stbi_uc* const pixels = stbi_load(file.c_str(), &width, &height, &channels, 4);
  Picture picture;
  if (pixels != nullptr) {
    picture.width = static_cast<std::uint32_t>(width);
    picture.height = static_cast<std::uint32_t>(height);
    picture.rgba.assign(pixels, pixels + std::size_t{picture.width} * picture.height * 4);
    stbi_image_free(pixels);
  }
  return picture;
}

}  // namespace reprise::debugger
