#include "debugger/model/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "debugger/model/layered_graph.h"

namespace reprise::debugger {
namespace {

constexpr float kPortInset = 16;  // of the ends of edges from the corners of boxes
constexpr float kLaneGap = 10;    // between edges at the side
constexpr std::uint32_t kLanes = 12;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

bool is_usable(const LayoutEdge& edge, std::size_t boxes) {
  return edge.src < edge.dst && edge.dst < boxes;
}

class Layout {
 public:
  Layout(std::span<const LayoutSize> boxes, std::span<const LayoutEdge> edges,
         const LayoutOptions& options)
      : sizes_(boxes), edges_(edges), options_(options) {}

  GraphLayout compute() {
    result_.ranks = layout_ranks(sizes_.size(), edges_);
    result_.routes.resize(edges_.size());
    if (sizes_.empty()) {
      return std::move(result_);
    }
    build_layers();
    reduce_crossings(layers_);
    x_ = columns_of(layers_, {options_.column_gap, options_.edge_gap});
    place_boxes();
    route_edges();
    return std::move(result_);
  }

 private:
  std::uint32_t rank(std::uint32_t box) const { return result_.ranks[box]; }
  bool runs_at_side(const LayoutEdge& edge) const {
    return rank(edge.dst) - rank(edge.src) > options_.longest_edge;
  }

  /// Boxes are the first vertices. Waypoints of a source follow each other, one per rank it passes.
  void build_layers() {
    const auto boxes = static_cast<std::uint32_t>(sizes_.size());
    for (std::uint32_t b = 0; b < boxes; ++b) {
      layers_.vertices.push_back({rank(b), 0, sizes_[b].width, false});
    }
    std::vector<std::uint32_t> reach(boxes, 0);  // the last rank a source's waypoints pass
    for (const LayoutEdge& edge : edges_) {
      if (is_usable(edge, boxes) && !runs_at_side(edge)) {
        reach[edge.src] = std::max(reach[edge.src], rank(edge.dst) - 1);
      }
    }
    first_waypoints_.assign(boxes, kNone);
    for (std::uint32_t b = 0; b < boxes; ++b) {
      std::uint32_t above = b;
      for (std::uint32_t r = rank(b) + 1; r <= reach[b]; ++r) {
        const auto waypoint = static_cast<std::uint32_t>(layers_.vertices.size());
        first_waypoints_[b] = std::min(first_waypoints_[b], waypoint);
        layers_.vertices.push_back({r, 0, 0, true});
        layers_.segments.push_back({above, waypoint});
        above = waypoint;
      }
    }
    for (const LayoutEdge& edge : edges_) {
      if (is_usable(edge, boxes) && !runs_at_side(edge)) {
        layers_.segments.push_back({last_before(edge), edge.dst});
      }
    }
    std::uint32_t last = 0;
    for (const LayeredGraph::Vertex& vertex : layers_.vertices) {
      last = std::max(last, vertex.rank);
    }
    layers_.ranks.resize(last + 1);
    for (std::uint32_t v = 0; v < layers_.vertices.size(); ++v) {
      layers_.ranks[layers_.vertices[v].rank].push_back(v);
    }
    layers_.link();
  }

  /// The vertex from which an edge enters its destination.
  std::uint32_t last_before(const LayoutEdge& edge) const {
    const std::uint32_t passed = rank(edge.dst) - rank(edge.src) - 1;
    return passed == 0 ? edge.src : first_waypoints_[edge.src] + passed - 1;
  }

  void place_boxes() {
    const std::size_t ranks = layers_.ranks.size();
    std::vector<float> above(ranks, 0), below(ranks, 0);
    heights_.assign(ranks, 0);
    for (std::uint32_t b = 0; b < sizes_.size(); ++b) {
      const std::uint32_t r = rank(b);
      heights_[r] = std::max(heights_[r], sizes_[b].height);
      above[r] = std::max(above[r], sizes_[b].above);
      below[r] = std::max(below[r], sizes_[b].below);
    }
    float top = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      starts_.push_back(top);
      tops_.push_back(top + above[r]);
      ends_.push_back(tops_[r] + heights_[r] + below[r]);
      top = ends_[r] + options_.rank_gap;
    }
    result_.boxes.resize(sizes_.size());
    result_.min = {std::numeric_limits<float>::infinity(), 0};
    result_.max = {-std::numeric_limits<float>::infinity(), top - options_.rank_gap};
    for (std::uint32_t b = 0; b < sizes_.size(); ++b) {
      const float slack = heights_[rank(b)] - sizes_[b].height;
      result_.boxes[b] = {x_[b] - sizes_[b].width / 2, tops_[rank(b)] + slack / 2};
      include(result_.boxes[b].x);
      include(result_.boxes[b].x + sizes_[b].width);
    }
    for (std::size_t v = sizes_.size(); v < x_.size(); ++v) {
      include(x_[v]);
    }
  }

  void include(float x) {
    result_.min.x = std::min(result_.min.x, x);
    result_.max.x = std::max(result_.max.x, x);
  }

  /// Where on a box an edge starts or ends that comes from x: straight below or above it if it can.
  float port(std::uint32_t box, float x) const {
    const float inset = std::min(kPortInset, sizes_[box].width / 2);
    const float left = result_.boxes[box].x;
    return std::clamp(x, left + inset, left + sizes_[box].width - inset);
  }

  void route_edges() {
    const float side = result_.min.x - 2 * kLaneGap;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const LayoutEdge& edge = edges_[i];
      if (!is_usable(edge, sizes_.size())) {
        continue;
      }
      result_.routes[i].first = static_cast<std::uint32_t>(result_.points.size());
      result_.routes[i].at_side = runs_at_side(edge);
      if (result_.routes[i].at_side) {
        route_at_side(edge, side);
      } else {
        route_between_ranks(edge);
      }
      result_.routes[i].count =
          static_cast<std::uint32_t>(result_.points.size()) - result_.routes[i].first;
    }
  }

  float bottom(std::uint32_t box) const { return result_.boxes[box].y + sizes_[box].height; }

  /// Along the lane of its source, left of everything.
  void route_at_side(const LayoutEdge& edge, float side) {
    const float lane = side - kLaneGap * static_cast<float>(edge.src % kLanes);
    include(lane);
    const float below = ends_[rank(edge.src)] + options_.rank_gap / 4;
    const float above = starts_[rank(edge.dst)] - options_.rank_gap / 4;
    const float out = port(edge.src, lane), in = port(edge.dst, lane);
    const LayoutPoint points[] = {
        {out, bottom(edge.src)}, {out, below}, {lane, below},
        {lane, above},           {in, above},  {in, result_.boxes[edge.dst].y}};
    result_.points.insert(result_.points.end(), std::begin(points), std::end(points));
  }

  /// Bends only between ranks, upright within them and what is kept free around them.
  void route_between_ranks(const LayoutEdge& edge) {
    const std::uint32_t from = rank(edge.src), to = rank(edge.dst);
    const std::uint32_t waypoint = first_waypoints_[edge.src];
    const float out = port(edge.src, to == from + 1 ? x_[edge.dst] : x_[waypoint]);
    add_point(edge, {out, bottom(edge.src)});
    add_point(edge, {out, ends_[from]});
    for (std::uint32_t r = from + 1; r < to; ++r) {
      const float x = x_[waypoint + r - from - 1];
      add_point(edge, {x, starts_[r]});
      add_point(edge, {x, ends_[r]});
    }
    const float in = port(edge.dst, to == from + 1 ? out : x_[waypoint + to - from - 2]);
    add_point(edge, {in, starts_[to]});
    add_point(edge, {in, result_.boxes[edge.dst].y});
  }

  /// Without the points in the middle of a straight line.
  void add_point(const LayoutEdge& edge, LayoutPoint point) {
    const std::size_t first = result_.routes[static_cast<std::size_t>(&edge - edges_.data())].first;
    std::vector<LayoutPoint>& points = result_.points;
    if (points.size() >= first + 2 && points.back().x == point.x &&
        points[points.size() - 2].x == point.x) {
      points.back() = point;
    } else {
      points.push_back(point);
    }
  }

  std::span<const LayoutSize> sizes_;
  std::span<const LayoutEdge> edges_;
  const LayoutOptions& options_;
  LayeredGraph layers_;
  std::vector<std::uint32_t> first_waypoints_;         // of each source
  std::vector<float> x_;                               // centres of vertices
  std::vector<float> starts_, tops_, heights_, ends_;  // of ranks; boxes begin at tops_
  GraphLayout result_;
};

}  // namespace

// The longest path to every box. A box nothing leads to stands right above what it leads to; boxes
// without edges fill the ranks from the top, a few in each.
std::vector<std::uint32_t> layout_ranks(std::size_t boxes, std::span<const LayoutEdge> edges) {
  std::vector<std::vector<std::uint32_t>> sources(boxes);
  std::vector<bool> leads_on(boxes, false);
  for (const LayoutEdge& edge : edges) {
    if (is_usable(edge, boxes)) {
      sources[edge.dst].push_back(edge.src);
      leads_on[edge.src] = true;
    }
  }
  std::vector<std::uint32_t> ranks(boxes, 0), nearest(boxes, kNone);
  std::uint32_t alone = 0;
  for (std::uint32_t b = 0; b < boxes; ++b) {
    for (const std::uint32_t src : sources[b]) {
      ranks[b] = std::max(ranks[b], ranks[src] + 1);
    }
    for (const std::uint32_t src : sources[b]) {
      nearest[src] = std::min(nearest[src], ranks[b]);
    }
    alone += sources[b].empty() && !leads_on[b] ? 1U : 0U;
  }
  const auto columns =
      std::max(1U, static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(alone)))));
  std::uint32_t placed = 0;
  for (std::uint32_t b = 0; b < boxes; ++b) {
    if (sources[b].empty()) {
      ranks[b] = leads_on[b] ? nearest[b] - 1 : placed++ / columns;
    }
  }
  return ranks;
}

GraphLayout layout_graph(std::span<const LayoutSize> boxes, std::span<const LayoutEdge> edges,
                         const LayoutOptions& options) {
  return Layout(boxes, edges, options).compute();
}

}  // namespace reprise::debugger
