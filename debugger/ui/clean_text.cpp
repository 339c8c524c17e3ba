#include "debugger/ui/clean_text.h"

#include <algorithm>

#include "debugger/model/printable.h"

namespace reprise::debugger {
namespace {

/// At most so many bytes, not ending within a character.
std::string_view first_bytes(std::string_view text, std::size_t max) {
  if (text.size() <= max) {
    return text;
  }
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  std::size_t end = max;
  while (end > max - 3 && continues(end)) {
    --end;
  }
  return text.substr(0, end);
}

}  // namespace

std::string clean_line(std::string_view text) {
  text = first_bytes(text, 512);
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  return plain ? std::string(text) : printable(text);
}

std::string clean_lines(std::string_view text) {
  text = first_bytes(text, 8192);
  std::string lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines += printable(text.substr(0, end));
    if (end == std::string_view::npos) {
      return lines;
    }
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace reprise::debugger
