// What a character is, as far as pre-tokenizers ask: general categories L and N and the property
// White_Space of Unicode 14.
#pragma once
#include <cstdint>
#include <span>

namespace reprise {

enum class CharacterClass : std::uint8_t { other, letter, number, space };

CharacterClass character_class(char32_t character);

struct CharacterRange {
  char32_t first;
  char32_t last;
};
/// Ascending.
std::span<const CharacterRange> letter_ranges();
std::span<const CharacterRange> number_ranges();

}  // namespace reprise
