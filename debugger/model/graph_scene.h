// The folded graph of a capture with a place for everything in it: what the graph panel draws.
// Lengths are world units: pixels at 1x and zoom 1.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/folded_graph.h"
#include "debugger/model/graph_layout.h"

namespace reprise::debugger {

struct SceneRect {
  LayoutPoint min, max;
  bool overlaps(const SceneRect& other) const {
    return min.x < other.max.x && other.min.x < max.x && min.y < other.max.y && other.min.y < max.y;
  }
  bool contains(const SceneRect& other) const {
    return min.x <= other.min.x && other.max.x <= max.x && min.y <= other.min.y &&
           other.max.y <= max.y;
  }
  LayoutPoint centre() const { return {(min.x + max.x) / 2, (min.y + max.y) / 2}; }
  SceneRect joined(const SceneRect& other) const;
};

struct GraphScene {
  static constexpr float kBoxWidth = 200, kBoxHeight = 50;
  static constexpr float kInputsHeight = 24;  // the row of input names in the box of a node
  static constexpr float kStripHeight = 30;   // the row of repetitions in the box of a group
  static constexpr float kHeader = 24;        // of the frame around an unfolded scope

  struct Box {
    SceneRect rect;
    std::string label, detail;        // printable, of a bounded length
    std::vector<std::string> inputs;  // names in the box; only of nodes
  };
  /// Around the boxes of an unfolded scope, if no other box lies between them.
  struct Frame {
    std::uint32_t item = 0;
    SceneRect rect;
    float side = 0;  // left and right of the boxes in it
    std::string label;
  };
  enum class LineKind : std::uint8_t { data, overwrites, barrier };
  struct Line {
    LineKind kind = LineKind::data;
    std::uint32_t src = 0, dst = 0;  // boxes
    std::uint32_t index = 0;         // of graph.edges, or of graph.barriers
    GraphLayout::Route route;        // of points
    SceneRect bounds;
  };

  FoldedGraph graph;
  std::vector<Box> boxes;     // as graph.boxes
  std::vector<Frame> frames;  // outer ones first
  std::vector<Line> lines;
  std::vector<LayoutPoint> points;
  SceneRect bounds;

  bool empty() const { return boxes.empty(); }
  /// Around the boxes that show an item or parts of it: it may be folded away or unfolded.
  SceneRect rect_of(const ScopeTree::Item& item) const;
};

GraphScene graph_scene(const Capture& capture, const ScopeTree& scopes, const FoldState& folds);

}  // namespace reprise::debugger
