#include "debugger/model/glob.h"

#include <optional>

namespace reprise::debugger {
namespace {

/// How many bytes the character at the front takes.
std::size_t character(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
    ++length;
  }
  return length;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  // After a mismatch the last * takes one character more: no earlier one has to.
  std::size_t p = 0, t = 0;
  std::optional<std::size_t> star;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      t += character(text.substr(t));
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star) {
      p = *star + 1;
      star_text += character(text.substr(star_text));
      t = star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace reprise::debugger
