// Colours and ImGui style. Every colour of the debugger has its name here.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <imgui.h>
#include <string_view>

namespace reprise::debugger {

enum class Colour : std::uint8_t {
  background,
  panel,
  raised,
  input,
  header,
  zebra,
  text,
  dim,
  accent,
  selection,
  separator,
  ok,
  warning,
  error,
  // op families
  product,
  attention,
  norm,
  elementwise,
  movement,
  sampling,
  // values of tensors
  nan,
  infinite,
  below_zero,
  above_zero,
  // two captures
  side_a,
  side_b,
  count
};

struct Theme {
  std::array<ImU32, static_cast<std::size_t>(Colour::count)> colours{};
  std::array<ImU32, 4> heat{};  // from cold to hot, monotone in lightness
  ImU32 operator[](Colour colour) const { return colours[static_cast<std::size_t>(colour)]; }
};

enum class ThemeKind : std::uint8_t { dark, light };
Theme theme_of(ThemeKind kind);
/// 0 to 1 along the heat ramp; outside values are clamped.
ImU32 heat_colour(const Theme& theme, double share);
/// -1 to 1 from the colour of numbers below zero over that of zero to that above; outside values
/// are clamped.
ImU32 signed_colour(const Theme& theme, double share);
/// Of a family of ops, by the name that captures store; grey for others.
Colour family_colour(std::string_view family);

struct OpFamilyColour {
  std::string_view family;
  Colour colour;
};
inline constexpr OpFamilyColour kFamilyColours[] = {
    {"product", Colour::product},   {"attention", Colour::attention},
    {"norm", Colour::norm},         {"elementwise", Colour::elementwise},
    {"movement", Colour::movement}, {"sampling", Colour::sampling}};
/// Style of the current ImGui context, lengths scaled.
void apply_style(const Theme& theme, float scale);

}  // namespace reprise::debugger
