#include "debugger/ui/theme.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace reprise::debugger {
namespace {

constexpr ImU32 rgb(std::uint32_t hex) {
  return IM_COL32((hex >> 16U) & 0xFFU, (hex >> 8U) & 0xFFU, hex & 0xFFU, 0xFF);
}

using Heat = std::array<ImU32, 4>;

struct NamedColour {
  Colour colour;
  std::uint32_t dark, light;
};

constexpr NamedColour kColours[] = {
    {Colour::background, 0x16181D, 0xE4E7EC}, {Colour::panel, 0x1B1E24, 0xFFFFFF},
    {Colour::raised, 0x2A2F3A, 0xDCE1E9},     {Colour::input, 0x242832, 0xEAEDF2},
    {Colour::header, 0x20242C, 0xEFF1F5},     {Colour::zebra, 0x1E2128, 0xF5F6F9},
    {Colour::text, 0xD7DBE2, 0x1F242C},       {Colour::dim, 0x7B8494, 0x667084},
    {Colour::accent, 0x4C8DFF, 0x2463D6},     {Colour::selection, 0x26425F, 0xBFD7F5},
    {Colour::separator, 0x2A2F3A, 0xD5DAE2},  {Colour::ok, 0x4FB286, 0x1F7D55},
    {Colour::warning, 0xD6A03C, 0x9A6A00},    {Colour::error, 0xDE5448, 0xC3372B},
    {Colour::product, 0x4C8DFF, 0x2463D6},    {Colour::attention, 0x9B7BFF, 0x6B47D9},
    {Colour::norm, 0x3FB3AC, 0x14807A},       {Colour::elementwise, 0x8A93A3, 0x5B6472},
    {Colour::movement, 0xD6A03C, 0x9A6A00},   {Colour::sampling, 0xE58FB6, 0xB94A85},
    {Colour::nan, 0xE05BD0, 0xB0209E},        {Colour::infinite, 0xF08A3C, 0xC25A0A},
    {Colour::below_zero, 0x4C8DFF, 0x2463D6}, {Colour::above_zero, 0xE8DC8C, 0xA8860C},
    {Colour::side_a, 0x4C8DFF, 0x2463D6},     {Colour::side_b, 0xF0A03C, 0xB86A00},
};
static_assert(std::size(kColours) == static_cast<std::size_t>(Colour::count));

ImU32 between(ImU32 from, ImU32 to, float share) {
  const ImVec4 a = ImGui::ColorConvertU32ToFloat4(from);
  const ImVec4 b = ImGui::ColorConvertU32ToFloat4(to);
  return ImGui::ColorConvertFloat4ToU32(
      {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share, a.z + (b.z - a.z) * share, 1.0F});
}

}  // namespace

Theme theme_of(ThemeKind kind) {
  Theme theme;
  const bool dark = kind == ThemeKind::dark;
  for (const NamedColour& named : kColours) {
    theme.colours[static_cast<std::size_t>(named.colour)] = rgb(dark ? named.dark : named.light);
  }
  theme.heat = dark ? Heat{rgb(0x26425F), rgb(0x3E7D7A), rgb(0xD6A03C), rgb(0xDE5448)}
                    : Heat{rgb(0xD6E4F5), rgb(0x8FC3BC), rgb(0xD9962B), rgb(0xB3261E)};
  return theme;
}

ImU32 heat_colour(const Theme& theme, double share) {
  const double at = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) *
                    static_cast<double>(theme.heat.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(at), theme.heat.size() - 2);
  return between(theme.heat[low], theme.heat[low + 1],
                 static_cast<float>(at - static_cast<double>(low)));
}

ImU32 signed_colour(const Theme& theme, double share) {
  const double at = std::clamp(std::isfinite(share) ? share : 0.0, -1.0, 1.0);
  return between(theme[Colour::raised], theme[at < 0 ? Colour::below_zero : Colour::above_zero],
                 static_cast<float>(std::abs(at)));
}

Colour family_colour(std::string_view family) {
  for (const OpFamilyColour& known : kFamilyColours) {
    if (known.family == family) {
      return known.colour;
    }
  }
  return Colour::elementwise;
}

void apply_style(const Theme& theme, float scale) {
  ImGuiStyle style;
  style.WindowPadding = style.CellPadding = {0, 0};
  style.FramePadding = {6, 3.5F};  // with text of 15: inputs are rows of 22
  style.ItemSpacing = {8, 4};
  style.ItemInnerSpacing = {4, 4};
  style.ScrollbarSize = 10;
  style.GrabMinSize = 24;
  style.WindowBorderSize = style.ChildBorderSize = style.FrameBorderSize = 0;
  style.PopupBorderSize = 1;
  style.FrameRounding = style.PopupRounding = style.ScrollbarRounding = style.GrabRounding = 3;
  style.ScaleAllSizes(scale);
  style.WindowMinSize = {1, 1};  // ImGui aborts below, and scaling rounds down

  const auto colour = [&](Colour name) { return ImGui::ColorConvertU32ToFloat4(theme[name]); };
  ImVec4* const colours = style.Colors;
  colours[ImGuiCol_Text] = colour(Colour::text);
  colours[ImGuiCol_TextDisabled] = colour(Colour::dim);
  // What lies below is the cleared background: filling windows again costs half of a frame.
  colours[ImGuiCol_WindowBg] = colours[ImGuiCol_ChildBg] = {0, 0, 0, 0};
  colours[ImGuiCol_PopupBg] = colour(Colour::header);
  colours[ImGuiCol_Border] = colours[ImGuiCol_Separator] = colour(Colour::separator);
  colours[ImGuiCol_FrameBg] = colours[ImGuiCol_FrameBgHovered] = colours[ImGuiCol_FrameBgActive] =
      colour(Colour::input);
  colours[ImGuiCol_ScrollbarBg] = {0, 0, 0, 0};
  colours[ImGuiCol_ScrollbarGrab] = colour(Colour::raised);
  colours[ImGuiCol_ScrollbarGrabHovered] = colours[ImGuiCol_ScrollbarGrabActive] =
      colour(Colour::dim);
  colours[ImGuiCol_TextSelectedBg] = colour(Colour::selection);
  ImGui::GetStyle() = style;
}

}  // namespace reprise::debugger
