#include "framework/formats/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "reprise/core/printable.h"

namespace reprise {
namespace {

constexpr std::size_t kPrintableBytes = 96;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t sequence_bytes(unsigned char lead) {
  if (lead < 0x80U) {
    return 1;
  }
  if (lead >= 0xC2U && lead <= 0xDFU) {
    return 2;
  }
  if (lead >= 0xE0U && lead <= 0xEFU) {
    return 3;
  }
  return lead >= 0xF0U && lead <= 0xF4U ? 4 : 0;
}

/// The second byte carries what the lead byte leaves open: overlong forms, surrogates, the maximum.
bool second_byte_fits(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xE0U:
      return second >= 0xA0U;
    case 0xEDU:
      return second <= 0x9FU;
    case 0xF0U:
      return second >= 0x90U;
    case 0xF4U:
      return second <= 0x8FU;
    default:
      return true;
  }
}

}  // namespace

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = sequence_bytes(lead);
  if (bytes == 0 || bytes > text.size() ||
      (bytes > 1 && !second_byte_fits(lead, static_cast<unsigned char>(text[1])))) {
    return {kNoCharacter, 1};
  }
  // The lead byte of a sequence of n > 1 bytes carries 7 - n bits.
  char32_t code = bytes == 1 ? lead : lead & ((1U << (7 - bytes)) - 1U);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) {
      return {kNoCharacter, 1};
    }
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {code, bytes};
}

void append_utf8(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  constexpr unsigned kLeads[] = {0, 0xC0, 0xE0, 0xF0};
  const unsigned tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  text += static_cast<char>(kLeads[tails] | code >> (6 * tails));
  for (unsigned i = tails; i-- > 0;) {
    text += static_cast<char>(0x80U | (code >> (6 * i) & 0x3FU));
  }
}

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
