#include "framework/formats/character_class.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace reprise {
namespace {

constexpr CharacterRange kSpaces[] = {
    {0x9, 0xD},       {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

bool holds(std::span<const CharacterRange> ranges, char32_t character) {
  const auto after = std::ranges::upper_bound(ranges, character, {}, &CharacterRange::first);
  return after != ranges.begin() && character <= (after - 1)->last;
}

CharacterClass searched_class(char32_t character) {
  if (holds(kSpaces, character)) {
    return CharacterClass::space;
  }
  if (holds(letter_ranges(), character)) {
    return CharacterClass::letter;
  }
  return holds(number_ranges(), character) ? CharacterClass::number : CharacterClass::other;
}

constexpr std::size_t kAscii = 128;

std::array<CharacterClass, kAscii> ascii_classes() {
  std::array<CharacterClass, kAscii> classes{};
  for (std::size_t i = 0; i < kAscii; ++i) {
    classes[i] = searched_class(static_cast<char32_t>(i));
  }
  return classes;
}

}  // namespace

CharacterClass character_class(char32_t character) {
  static const auto kAsciiClasses = ascii_classes();
  return character < kAscii ? kAsciiClasses[character] : searched_class(character);
}

}  // namespace reprise
