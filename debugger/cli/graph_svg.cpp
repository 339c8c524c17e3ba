#include "debugger/cli/graph_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "debugger/cli/table.h"
#include "debugger/model/format.h"
#include "debugger/model/graph_scene.h"
#include "debugger/model/markup.h"

namespace reprise::cli {
namespace {

using debugger::GraphScene;
using debugger::LayoutPoint;

constexpr float kHeading = 56;  // above the graph: the title and what colours mean
constexpr float kMargin = 16;

/// Text of a width that no font is asked for: most letters of a sans serif are about this wide.
constexpr float kLetter = 0.56F;

std::string svg_number(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(value));
  return text;
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// As much of a text as is about that wide.
std::string cut(const std::string& text, float size, float width) {
  const auto max = static_cast<std::size_t>(std::max(1.0F, width / (size * kLetter)));
  const auto count =
      static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
  if (count <= max) {
    return text;
  }
  std::size_t end = 0;
  for (std::size_t left = max; end < text.size(); ++end) {
    if (begins_character(text[end]) && left-- == 1) {
      break;
    }
  }
  return text.substr(0, end) + "\xE2\x80\xA6";
}

/// From nearly white to a strong orange; text on it is dark.
std::string heat(double share) {
  constexpr std::array<double, 3> kCold{250, 250, 250}, kHot{244, 140, 60};
  std::array<int, 3> mixed{};
  for (std::size_t c = 0; c < mixed.size(); ++c) {
    mixed[c] = static_cast<int>(std::lround(std::lerp(kCold[c], kHot[c], share)));
  }
  char text[16];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(mixed[0]),
                static_cast<unsigned>(mixed[1]), static_cast<unsigned>(mixed[2]));
  return text;
}

class Picture {
 public:
  Picture(const Captured& captured, std::ostream& out)
      : captured_(captured), tree_(captured.capture), out_(out) {
    debugger::FoldState folds(tree_);
    folds.unfold_all();
    scene_ = debugger::graph_scene(captured.capture, tree_, folds);
    for (std::uint32_t n = 0; n < captured.capture.nodes.size(); ++n) {
      const auto ns = time_of_node(captured, n).duration_ns;
      slowest_ns_ = std::max(slowest_ns_, ns.value_or(0));
      total_ns_ += ns.value_or(0);
    }
  }

  void write() {
    const float width = std::max(560.0F, scene_.bounds.max.x - scene_.bounds.min.x) + 2 * kMargin;
    const float height = scene_.bounds.max.y - scene_.bounds.min.y + kHeading + 2 * kMargin;
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << svg_number(width)
         << "\" height=\"" << svg_number(height) << "\" viewBox=\"0 0 " << svg_number(width) << ' '
         << svg_number(height) << "\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n"
         << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    heading();
    out_ << "<g transform=\"translate(" << svg_number(kMargin - scene_.bounds.min.x) << ' '
         << svg_number(kMargin + kHeading - scene_.bounds.min.y) << ")\">\n";
    for (const GraphScene::Frame& frame : scene_.frames) {
      draw(frame);
    }
    for (const GraphScene::Line& line : scene_.lines) {
      draw(line);
    }
    for (std::uint32_t b = 0; b < scene_.boxes.size(); ++b) {
      draw(b);
    }
    out_ << "</g>\n</svg>\n";
  }

 private:
  void text(float x, float y, float size, const char* colour, const std::string& words,
            const char* more = "") {
    out_ << "<text x=\"" << svg_number(x) << "\" y=\"" << svg_number(y) << "\" font-size=\""
         << svg_number(size) << "\" fill=\"" << colour << "\"" << more << ">"
         << debugger::markup_text(words) << "</text>\n";
  }

  void heading() {
    text(kMargin, 26, 16, "#1a1a1a", title_of(captured_), " font-weight=\"bold\"");
    const std::string nodes = debugger::count_text(captured_.capture.nodes.size()) + " nodes";
    if (slowest_ns_ == 0) {
      text(kMargin, 48, 12, "#555555", nodes + ", without times");
      return;
    }
    text(kMargin, 48, 12, "#555555",
         nodes + ", " + debugger::duration_text(total_ns_) + " in all; colours: 0 to " +
             debugger::duration_text(slowest_ns_));
    for (int i = 0; i < 10; ++i) {
      out_ << "<rect x=\"" << svg_number(kMargin + 430 + static_cast<float>(i) * 10)
           << "\" y=\"38.0\" width=\"10.0\" height=\"12.0\" fill=\"" << heat((i + 0.5) / 10)
           << "\" stroke=\"#dddddd\" stroke-width=\"0.5\"/>\n";
    }
  }

  void rect(const debugger::SceneRect& box, const std::string& fill, const char* stroke) {
    out_ << "<rect x=\"" << svg_number(box.min.x) << "\" y=\"" << svg_number(box.min.y)
         << "\" width=\"" << svg_number(box.max.x - box.min.x) << "\" height=\""
         << svg_number(box.max.y - box.min.y) << "\" rx=\"5.0\" fill=\"" << fill << "\" stroke=\""
         << stroke << "\"/>\n";
  }

  void draw(const GraphScene::Frame& frame) {
    rect(frame.rect, tree_[frame.item].depth % 2 == 1 ? "#f4f6f8" : "#eaeef2", "#c5ccd3");
    text(frame.rect.min.x + 8, frame.rect.min.y + 17, 13, "#333333",
         cut(frame.label, 13, frame.rect.max.x - frame.rect.min.x - 16), " font-weight=\"bold\"");
  }

  void draw(const GraphScene::Line& line) {
    const auto points = std::span(scene_.points).subspan(line.route.first, line.route.count);
    if (points.size() < 2 || line.kind == GraphScene::LineKind::barrier) {
      return;
    }
    out_ << "<path fill=\"none\" stroke=\"#7b8794\" stroke-width=\""
         << (line.kind == GraphScene::LineKind::data ? "1.6\"" : "1.0\" stroke-dasharray=\"4 3\"")
         << " d=\"M" << svg_number(points[0].x) << ' ' << svg_number(points[0].y);
    for (std::size_t i = 1; i < points.size(); ++i) {
      const LayoutPoint from = points[i - 1];
      const LayoutPoint to = points[i];
      if (line.route.at_side) {
        out_ << " L" << svg_number(to.x) << ' ' << svg_number(to.y);
      } else {  // leaves and arrives straight down
        const float middle = (from.y + to.y) / 2;
        out_ << " C" << svg_number(from.x) << ' ' << svg_number(middle) << ' ' << svg_number(to.x)
             << ' ' << svg_number(middle) << ' ' << svg_number(to.x) << ' ' << svg_number(to.y);
      }
    }
    out_ << "\"/>\n";
    const LayoutPoint end = points.back();
    out_ << "<path fill=\"#7b8794\" d=\"M" << svg_number(end.x) << ' ' << svg_number(end.y)
         << " l-4 -7 h8 z\"/>\n";
  }

  void draw(std::uint32_t b) {
    const GraphScene::Box& box = scene_.boxes[b];
    const std::uint32_t n = scene_.graph.boxes[b].first;
    const Capture::Node& node = captured_.capture.nodes[n];
    const auto ns = time_of_node(captured_, n).duration_ns;
    const double share =
        slowest_ns_ > 0 ? static_cast<double>(ns.value_or(0)) / static_cast<double>(slowest_ns_)
                        : 0;
    out_ << "<g id=\"node" << n << "\">\n<title>" << debugger::markup_text(about(node, n, ns))
         << "</title>\n";
    rect(box.rect, heat(share), "#8a949e");
    const float left = box.rect.min.x + 10;
    const float right = box.rect.max.x - 10;
    const float width = right - left;
    const std::string time = ns ? debugger::duration_text(*ns) : "";
    const float time_width = static_cast<float>(time.size()) * 12 * kLetter + 8;
    const std::string op = cut(box.label, 14, width - time_width);
    text(left, box.rect.min.y + 20, 14, "#111111", op, " font-weight=\"bold\"");
    if (!time.empty()) {
      text(right, box.rect.min.y + 20, 12, "#111111", time, " text-anchor=\"end\"");
    }
    // Without a name of its own a node has that of its scope, which the frame around it has too.
    const bool labelled = !node.label.empty() && node.label != box.label &&
                          !("/" + node.scope).ends_with("/" + node.label);
    text(left, box.rect.min.y + 39, 12, "#444444",
         cut(labelled ? box.detail + "  " + node.label : box.detail, 12, width));
    std::string inputs;
    for (const std::string& input : box.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + input;
    }
    if (!inputs.empty()) {
      text(left, box.rect.max.y - 10, 11, "#444444", cut(inputs, 11, width));
    }
    out_ << "</g>\n";
  }

  std::string about(const Capture::Node& node, std::uint32_t n,
                    std::optional<std::uint64_t> ns) const {
    std::string text = std::to_string(n) + " " + node.op;
    for (const std::string& part : {node.scope, node.label, source_of(node)}) {
      text += part.empty() ? "" : ", " + part;
    }
    if (ns) {
      text += ", " + debugger::duration_text(*ns);
      if (const auto bytes = bytes_of(node); bytes && *ns > 0) {
        text +=
            ", " + cli::number(static_cast<double>(*bytes) / static_cast<double>(*ns), 2) + " GB/s";
      }
    }
    return text;
  }

  const Captured& captured_;
  debugger::ScopeTree tree_;
  std::ostream& out_;
  GraphScene scene_;
  std::uint64_t slowest_ns_ = 0, total_ns_ = 0;
};

}  // namespace

void write_graph_svg(const Captured& captured, std::ostream& out) {
  Picture(captured, out).write();
}

}  // namespace reprise::cli
