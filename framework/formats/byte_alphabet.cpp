#include "framework/formats/byte_alphabet.h"

#include <array>

#include "framework/core/utf8.h"

namespace reprise {
namespace {

constexpr char32_t kFirstStandIn = 0x100;
constexpr std::size_t kStandIns = 68;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

struct Alphabet {
  std::array<char32_t, 256> characters{};           // by byte
  std::array<unsigned char, kStandIns> replaced{};  // the bytes that U+0100 and following stand for
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  std::size_t count = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    alphabet.characters[byte] = byte;
    if (!stands_for_itself(byte)) {
      alphabet.characters[byte] = kFirstStandIn + static_cast<char32_t>(count);
      alphabet.replaced[count++] = static_cast<unsigned char>(byte);
    }
  }
  return alphabet;
}
constexpr Alphabet kAlphabet = make_alphabet();

std::optional<char> byte_of(char32_t code) {
  if (code < 0x100 && stands_for_itself(code)) {
    return static_cast<char>(code);
  }
  if (code >= kFirstStandIn && code < kFirstStandIn + kStandIns) {
    return static_cast<char>(kAlphabet.replaced[code - kFirstStandIn]);
  }
  return std::nullopt;
}

}  // namespace

std::string byte_spelling(char byte) {
  const char32_t code = kAlphabet.characters[static_cast<unsigned char>(byte)];
  if (code < 0x80) {
    return {static_cast<char>(code)};
  }
  return {static_cast<char>(0xC0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3FU))};
}

std::optional<char> byte_spelled_by(std::string_view spelling) {
  if (spelling.empty()) {
    return std::nullopt;
  }
  const auto [code, length] = first_character(spelling);
  return length == spelling.size() ? byte_of(code) : std::nullopt;
}

std::string spelled_bytes(std::string_view spelling) {
  std::string bytes;
  while (!spelling.empty()) {
    const auto [code, length] = first_character(spelling);
    if (const auto byte = byte_of(code)) {
      bytes += *byte;
    } else {
      bytes += spelling.substr(0, length);
    }
    spelling.remove_prefix(length);
  }
  return bytes;
}

}  // namespace reprise
