// A layered layout of a graph whose recorded order is a topological one: ranks by longest path,
// few crossings by barycenters (Sugiyama, Tagawa, Toda 1981), straight columns after Brandes and
// Koepf 2001. Edges over many ranks bypass the layers at the left side. Deterministic. Lengths are
// in units of the caller; y grows downwards.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::debugger {

struct LayoutPoint {
  float x = 0, y = 0;
  bool operator==(const LayoutPoint&) const = default;
};

struct LayoutSize {
  float width = 0, height = 0;
  float above = 0, below = 0;  // kept free between its rank and the next ones
};

struct LayoutEdge {
  std::uint32_t src = 0, dst = 0;  // boxes; src < dst
};

struct LayoutOptions {
  float column_gap = 40;  // between neighbours of a rank
  float edge_gap = 18;    // between an edge that passes a rank and its neighbours
  float rank_gap = 36;
  /// Edges over more ranks run at the side: their waypoints would outnumber everything else.
  std::uint32_t longest_edge = 40;
};

struct GraphLayout {
  struct Route {
    std::uint32_t first = 0, count = 0;  // of points, from the bottom of src to the top of dst
    bool at_side = false;  // horizontal and vertical lines; else smooth from rank to rank
  };
  std::vector<LayoutPoint> boxes;    // top left corners
  std::vector<std::uint32_t> ranks;  // of boxes; grow along every edge
  std::vector<Route> routes;         // of edges
  std::vector<LayoutPoint> points;
  LayoutPoint min, max;  // around boxes and routes
};

/// The rank of each box, as layout_graph() finds it.
std::vector<std::uint32_t> layout_ranks(std::size_t boxes, std::span<const LayoutEdge> edges);

/// Ignores edges that do not lead from a box to a later one: their routes have no points.
GraphLayout layout_graph(std::span<const LayoutSize> boxes, std::span<const LayoutEdge> edges,
                         const LayoutOptions& options = {});

}  // namespace reprise::debugger
