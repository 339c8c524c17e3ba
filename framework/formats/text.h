// Text that comes from files: checked, and made safe to print inside an error message.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace reprise {

struct Character {
  char32_t code;
  std::size_t bytes;
};
/// What `text`, which is not empty, begins with. A byte that begins no UTF-8 character stands for
/// itself, with a code of kNoCharacter.
Character first_character(std::string_view text);
inline constexpr char32_t kNoCharacter = 0xFFFFFFFF;

/// Adds `code`, at most U+10FFFF, as UTF-8.
void append_utf8(std::string& text, char32_t code);

/// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

/// `text` in single quotes, what is not printable as \xNN, cut after 96 bytes: a hostile name can
/// neither drive a terminal nor flood a log.
std::string quoted_name(std::string_view text);

}  // namespace reprise
