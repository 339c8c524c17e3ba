#include "reprise/core/printable.h"

#include <array>
#include <cstdint>

namespace reprise {
namespace {

std::string kept(std::string_view text, std::string_view also) {
  std::string safe;
  while (!text.empty()) {
    const bool keep = also.find(text.front()) != std::string_view::npos;
    const std::size_t bytes = keep ? 1 : printable_bytes(text);
    safe += bytes == 0 ? "?" : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return safe;
}

}  // namespace

std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) < 0x80) {
    return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  }
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  std::uint32_t code = byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0xA0, 0x800, 0x10000};  // C1 controls too
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool direction = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  const bool valid = byte(0) >= 0xC2 && byte(0) < 0xF5 && code >= kLeast[length] &&
                     code < 0x110000 && !surrogate && !direction;
  return valid ? length : 0;
}

std::string printable(std::string_view text) { return kept(text, ""); }

std::string printable_lines(std::string_view text) { return kept(text, "\n\t"); }

}  // namespace reprise
