#include "debugger/ui/fonts.h"

#include <cmath>
#include <imgui_freetype.h>

// Made by debugger/ui/CMakeLists.txt from the files of the fonts.
extern "C" {
extern const unsigned char reprise_font_regular_begin[], reprise_font_regular_end[];
extern const unsigned char reprise_font_semibold_begin[], reprise_font_semibold_end[];
extern const unsigned char reprise_font_mono_begin[], reprise_font_mono_end[];
extern const unsigned char reprise_font_icons_begin[], reprise_font_icons_end[];
}

namespace reprise::debugger {
namespace {

struct File {
  const unsigned char* begin;
  const unsigned char* end;
};

struct Face {
  FontKind kind;
  File file;
  float size;  // pixels at 1x
};

// Pairs of first and last code point. ImGui keeps the pointers, not copies.
constexpr ImWchar kTextRanges[] = {0x0020, 0x007E, 0x00A0, 0x024F,  // Latin; U+00B7, U+00D7
                                   0x0370, 0x03FF,                  // Greek
                                   0x2010, 0x2027, 0x2030, 0x203A,  // dashes, ellipsis, quotes
                                   0x2190, 0x2199, 0x21D0, 0x21D5,  // arrows
                                   0x2200, 0x2265, 0x25A0, 0x25CF,  // mathematics, shapes
                                   0xFFFD, 0xFFFD, 0};
constexpr ImWchar kIconRanges[] = {0xF000, 0xF2E0, 0};

void add_font(ImFontAtlas& atlas, const File& file, float size, const ImWchar* ranges,
              ImFontConfig config) {
  config.FontDataOwnedByAtlas = false;
  atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(file.begin),
                             static_cast<int>(file.end - file.begin), size, &config, ranges);
}

}  // namespace

Fonts build_fonts(float scale) {
  const Face faces[] = {
      {FontKind::regular, {reprise_font_regular_begin, reprise_font_regular_end}, 15},
      {FontKind::semibold, {reprise_font_semibold_begin, reprise_font_semibold_end}, 15},
      {FontKind::mono, {reprise_font_mono_begin, reprise_font_mono_end}, 14},
      {FontKind::regular_tiny, {reprise_font_regular_begin, reprise_font_regular_end}, 11},
      {FontKind::regular_small, {reprise_font_regular_begin, reprise_font_regular_end}, 13},
      {FontKind::regular_large, {reprise_font_regular_begin, reprise_font_regular_end}, 24},
  };
  const File icons{reprise_font_icons_begin, reprise_font_icons_end};
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  Fonts fonts;
  for (const Face& face : faces) {
    const float size = std::round(face.size * scale);
    ImFontConfig text;
    text.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
    add_font(atlas, face.file, size, kTextRanges, text);
    ImFontConfig merged;
    merged.MergeMode = true;
    const float icon_size = std::round(size * 14 / 15);
    merged.GlyphMinAdvanceX = icon_size;  // icons stand below each other
    add_font(atlas, icons, icon_size, kIconRanges, merged);
    fonts.fonts[static_cast<std::size_t>(face.kind)] = atlas.Fonts.back();
  }
  atlas.Build();
  return fonts;
}

}  // namespace reprise::debugger
