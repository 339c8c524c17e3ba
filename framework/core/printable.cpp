#include "reprise/core/printable.h"

#include "framework/core/utf8.h"

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
  const auto [code, bytes] = text.empty() ? Character{kNoCharacter, 0} : first_character(text);
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool direction = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code == kNoCharacter || control || direction ? 0 : bytes;
}

std::string printable(std::string_view text) { return kept(text, ""); }

std::string printable_lines(std::string_view text) { return kept(text, "\n\t"); }

}  // namespace reprise
