#include "framework/formats/text.h"

#include <algorithm>
#include <cstddef>

#include "framework/core/utf8.h"
#include "reprise/core/printable.h"

namespace reprise {
namespace {

constexpr std::size_t kPrintableBytes = 96;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character first = first_character(text);
    if (first.code == kNoCharacter) {
      return false;
    }
    text.remove_prefix(first.bytes);
  }
  return true;
}

std::string quoted_name(std::string_view text) {
  std::size_t end = text.size();
  if (end > kPrintableBytes) {
    end = kPrintableBytes;
    while (end > 0 && is_continuation(text[end])) {
      --end;
    }
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string result = "'";
  for (std::string_view rest = text.substr(0, end); !rest.empty();) {
    const std::size_t bytes = printable_bytes(rest);
    if (bytes > 0) {
      result += rest.substr(0, bytes);
    } else {
      const auto byte = static_cast<unsigned char>(rest.front());
      result += {'\\', 'x', kHex[byte >> 4U], kHex[byte & 15U]};
    }
    rest.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result + (end < text.size() ? "...'" : "'");
}

}  // namespace reprise
