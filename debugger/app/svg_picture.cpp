#include "debugger/app/svg_picture.h"

#include <array>
#include <cmath>
#include <locale>
#include <optional>
#include <sstream>

#include "debugger/model/markup.h"
#include "debugger/model/output_file.h"

namespace reprise::debugger {
namespace {

// ImGui's size of a font is from its ascent to its descent; that of SVG is an em.
constexpr float kInterEm = 1 / 1.21F, kMonoEm = 1 / 1.32F;

unsigned int channel(ImU32 colour, int shift) { return colour >> shift & 0xFFU; }

std::string rgb(ImU32 colour) {
  return "rgb(" + std::to_string(channel(colour, IM_COL32_R_SHIFT)) + "," +
         std::to_string(channel(colour, IM_COL32_G_SHIFT)) + "," +
         std::to_string(channel(colour, IM_COL32_B_SHIFT)) + ")";
}

/// " fill=... fill-opacity=...".
std::string fill(ImU32 colour) {
  const unsigned int alpha = channel(colour, IM_COL32_A_SHIFT);
  std::string text = " fill=\"" + rgb(colour) + "\"";
  if (alpha < 255) {
    text += " fill-opacity=\"" + std::to_string(alpha / 255.0) + "\"";
  }
  return text;
}

class SvgPicture {
 public:
  explicit SvgPicture(const Box& box) : box_(box) {
    out_.imbue(std::locale::classic());
    out_.setf(std::ios::fixed);
    out_.precision(1);
  }

  void begin(ImU32 background) {
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << box_.width() << "\" height=\""
         << box_.height() << "\" viewBox=\"0 0 " << box_.width() << ' ' << box_.height()
         << "\">\n<rect width=\"100%\" height=\"100%\"" << fill(background) << "/>\n";
  }
  void shapes(const ImDrawList& list, ImVec2 white);
  void text(const DrawnText& text, const Fonts& fonts);
  std::string end() {
    close();
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  /// What follows is seen inside of this only; false if nothing of it is in the picture.
  bool clip(const Box& to);
  void close() {
    out_ << (clip_ ? "</g>\n" : "");
    clip_.reset();
  }
  void point(ImVec2 at) { out_ << at.x - box_.min.x << ' ' << at.y - box_.min.y; }

  Box box_;
  std::ostringstream out_;
  std::optional<Box> clip_;  // of the group that is open
  std::size_t clips_ = 0;
};

bool SvgPicture::clip(const Box& to) {
  const Box seen = to.intersection(box_);
  if (seen.empty()) {
    return false;
  }
  const auto same = [](ImVec2 a, ImVec2 b) { return a.x == b.x && a.y == b.y; };
  if (clip_ && same(clip_->min, seen.min) && same(clip_->max, seen.max)) {
    return true;
  }
  close();
  clip_ = seen;
  out_ << "<clipPath id=\"c" << clips_ << "\"><rect x=\"" << seen.min.x - box_.min.x << "\" y=\""
       << seen.min.y - box_.min.y << "\" width=\"" << seen.width() << "\" height=\""
       << seen.height() << "\"/></clipPath>\n<g clip-path=\"url(#c" << clips_ << ")\">\n";
  ++clips_;
  return true;
}

void SvgPicture::shapes(const ImDrawList& list, ImVec2 white) {
  for (const ImDrawCmd& command : list.CmdBuffer) {
    const Box box{{command.ClipRect.x, command.ClipRect.y},
                  {command.ClipRect.z, command.ClipRect.w}};
    if (command.UserCallback != nullptr || !clip(box)) {
      continue;
    }
    ImU32 colour = 0;
    bool open = false;
    for (unsigned int i = 0; i + 2 < command.ElemCount; i += 3) {
      std::array<const ImDrawVert*, 3> corners{};
      bool solid = true;
      for (unsigned int c = 0; c < 3; ++c) {
        corners[c] = &list.VtxBuffer[static_cast<int>(
            command.VtxOffset + list.IdxBuffer[static_cast<int>(command.IdxOffset + i + c)])];
        // Glyphs are texts.
        solid = solid && corners[c]->uv.x == white.x && corners[c]->uv.y == white.y;
      }
      if (!solid) {
        continue;
      }
      if (!open || corners[0]->col != colour) {
        out_ << (open ? "\"/>\n" : "") << "<path" << fill(corners[0]->col) << " d=\"";
        colour = corners[0]->col;
        open = true;
      }
      for (std::size_t c = 0; c < 3; ++c) {
        out_ << (c == 0 ? 'M' : 'L');
        point(corners[c]->pos);
      }
      out_ << 'Z';
    }
    out_ << (open ? "\"/>\n" : "");
  }
}

void SvgPicture::text(const DrawnText& text, const Fonts& fonts) {
  const ImVec2 size = text.font->CalcTextSizeA(text.size, FLT_MAX, 0, text.text.data(),
                                               text.text.data() + text.text.size());
  const Box covered{text.at, {text.at.x + size.x, text.at.y + size.y}};
  if (covered.intersection(box_).empty() || !clip(text.clip)) {
    return;
  }
  const bool mono = text.font == fonts[FontKind::mono];
  std::istringstream lines(text.text);
  std::string line;
  float y = text.at.y + text.font->Ascent * text.size / text.font->FontSize;
  while (std::getline(lines, line)) {
    const float width =
        text.font->CalcTextSizeA(text.size, FLT_MAX, 0, line.data(), line.data() + line.size()).x;
    out_ << "<text x=\"" << text.at.x - box_.min.x << "\" y=\"" << y - box_.min.y
         << "\" font-size=\"" << text.size * (mono ? kMonoEm : kInterEm) << "\" font-family=\""
         << (mono ? "'JetBrains Mono',FontAwesome,monospace" : "Inter,FontAwesome,sans-serif")
         << '"' << (text.font == fonts[FontKind::semibold] ? " font-weight=\"600\"" : "")
         << fill(text.colour);
    if (width > 0) {  // the same with any other font
      out_ << " textLength=\"" << width << "\" lengthAdjust=\"spacingAndGlyphs\"";
    }
    out_ << '>' << markup_text(line) << "</text>\n";
    y += text.size;
  }
}

}  // namespace

void write_svg(const ImDrawData& frame, std::span<const DrawnText> texts, const Fonts& fonts,
               const Box& box, ImU32 background, const std::filesystem::path& path) {
  SvgPicture picture(box);
  picture.begin(background);
  const ImVec2 white = fonts[FontKind::regular]->ContainerAtlas->TexUvWhitePixel;
  for (int i = 0; i < frame.CmdListsCount; ++i) {
    picture.shapes(*frame.CmdLists[i], white);
  }
  for (const DrawnText& text : texts) {
    picture.text(text, fonts);
  }
  write_output(path, [&](std::ostream& out) { out << picture.end(); });
}

}  // namespace reprise::debugger
