// UTF-8, read strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstddef>
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

}  // namespace reprise
