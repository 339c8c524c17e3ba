#include "framework/formats/byte_alphabet.h"

#include <array>

#include "framework/formats/text.h"

namespace reprise {
namespace {

constexpr char32_t kFirstStandIn = 0x100;
constexpr std::size_t kStandIns = 68;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

/// The bytes that U+0100 and following stand for.
constexpr std::array<unsigned char, kStandIns> stand_ins() {
  std::array<unsigned char, kStandIns> bytes{};
  std::size_t count = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!stands_for_itself(byte)) {
      bytes[count++] = static_cast<unsigned char>(byte);
    }
  }
  return bytes;
}
constexpr auto kReplaced = stand_ins();

}  // namespace

std::string byte_spelling(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  char32_t code = value;
  for (std::size_t i = 0; i < kReplaced.size() && code == value; ++i) {
    if (kReplaced[i] == value) {
      code = kFirstStandIn + static_cast<char32_t>(i);
    }
  }
  std::string text;
  append_utf8(text, code);
  return text;
}

std::string spelled_bytes(std::string_view spelling) {
  std::string bytes;
  while (!spelling.empty()) {
    const auto [code, length] = first_character(spelling);
    if (code < 0x100 && stands_for_itself(code)) {
      bytes += static_cast<char>(code);
    } else if (code >= kFirstStandIn && code < kFirstStandIn + kStandIns) {
      bytes += static_cast<char>(kReplaced[code - kFirstStandIn]);
    } else {
      bytes += spelling.substr(0, length);
    }
    spelling.remove_prefix(length);
  }
  return bytes;
}

}  // namespace reprise
