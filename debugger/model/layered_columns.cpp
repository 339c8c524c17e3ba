// Brandes, Koepf: Fast and simple horizontal coordinate assignment, Graph Drawing 2001, with the
// compaction over the graph of blocks, which keeps every distance where the published one does not.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "debugger/model/layered_graph.h"

namespace reprise::debugger {
namespace {

using Rank = std::vector<std::uint32_t>;

/// Segments that cross one between two waypoints: those must stay straight.
std::vector<bool> crossed_segments(const LayeredGraph& graph) {
  std::vector<bool> crossed(graph.segments.size(), false);
  for (std::size_t r = 1; r < graph.ranks.size(); ++r) {
    const Rank& rank = graph.ranks[r];
    std::uint32_t low = 0;
    std::size_t scanned = 0;
    for (std::size_t i = 0; i < rank.size(); ++i) {
      const std::uint32_t* inner = nullptr;
      if (graph.vertices[rank[i]].waypoint) {
        for (const auto& link : graph.up.of(rank[i])) {
          if (graph.vertices[link.vertex].waypoint) {
            inner = &graph.vertices[link.vertex].place;
          }
        }
      }
      if (inner == nullptr && i + 1 < rank.size()) {
        continue;
      }
      const auto high =
          inner != nullptr ? *inner : static_cast<std::uint32_t>(graph.ranks[r - 1].size() - 1);
      for (; scanned <= i; ++scanned) {
        for (const auto& link : graph.up.of(rank[scanned])) {
          const LayeredGraph::Vertex& upper = graph.vertices[link.vertex];
          const bool is_inner = upper.waypoint && graph.vertices[rank[scanned]].waypoint;
          if (!is_inner && (upper.place < low || upper.place > high)) {
            crossed[link.segment] = true;
          }
        }
      }
      low = high;
    }
  }
  return crossed;
}

/// Boxes that are connected directly shall stand in a column; the waypoints of edges that pass
/// beside them make way.
void keep_waypoints_aside(const LayeredGraph& graph, std::vector<bool>& refused) {
  for (const LayeredGraph::Neighbours* direction : {&graph.up, &graph.down}) {
    for (std::uint32_t v = 0; v < graph.vertices.size(); ++v) {
      const auto links = direction->of(v);
      const auto is_waypoint = [&](const auto& link) {
        return graph.vertices[link.vertex].waypoint;
      };
      if (graph.vertices[v].waypoint || std::all_of(links.begin(), links.end(), is_waypoint)) {
        continue;
      }
      for (const auto& link : links) {
        refused[link.segment] = refused[link.segment] || is_waypoint(link);
      }
    }
  }
}

/// One of the four ways to sweep over the ranks: from above or below, from the left or the right.
struct Sweep {
  bool downwards = true, rightwards = true;
};

class Columns {
 public:
  Columns(const LayeredGraph& graph, const LayeredGaps& gaps, const std::vector<bool>& refused,
          Sweep sweep)
      : graph_(graph),
        gaps_(gaps),
        refused_(refused),
        sweep_(sweep),
        roots_(graph.vertices.size()) {
    for (std::uint32_t v = 0; v < roots_.size(); ++v) {
      roots_[v] = v;
    }
  }

  std::vector<float> compute() {
    align();
    return compact();
  }

 private:
  std::uint32_t at(const Rank& rank, std::size_t i) const {
    return rank[sweep_.rightwards ? i : rank.size() - 1 - i];
  }
  std::int64_t place(std::uint32_t vertex) const {
    const auto place = static_cast<std::int64_t>(graph_.vertices[vertex].place);
    return sweep_.rightwards ? place : -place;
  }

  /// Joins every vertex with the median of its neighbours, if no vertex before it lies across.
  void align() {
    const LayeredGraph::Neighbours& neighbours = sweep_.downwards ? graph_.up : graph_.down;
    std::vector<bool> taken(graph_.vertices.size(), false);
    std::vector<LayeredGraph::Neighbours::Link> links;
    for (std::size_t i = 0; i < graph_.ranks.size(); ++i) {
      const Rank& rank = graph_.ranks[sweep_.downwards ? i : graph_.ranks.size() - 1 - i];
      std::int64_t last = std::numeric_limits<std::int64_t>::min();
      for (std::size_t k = 0; k < rank.size(); ++k) {
        const std::uint32_t vertex = at(rank, k);
        const auto all = neighbours.of(vertex);
        if (all.empty()) {
          continue;
        }
        links.assign(all.begin(), all.end());
        std::sort(links.begin(), links.end(),
                  [&](const auto& a, const auto& b) { return place(a.vertex) < place(b.vertex); });
        for (std::size_t m = (links.size() - 1) / 2; m <= links.size() / 2; ++m) {
          const auto& [neighbour, segment] = links[m];
          if (!refused_[segment] && place(neighbour) > last) {
            roots_[vertex] = roots_[neighbour];
            last = place(neighbour);
            break;
          }
        }
      }
    }
  }

  float distance(std::uint32_t left, std::uint32_t right) const {
    const LayeredGraph::Vertex &a = graph_.vertices[left], &b = graph_.vertices[right];
    return (a.width + b.width) / 2 + (a.waypoint || b.waypoint ? gaps_.edge : gaps_.column);
  }

  struct Gap {
    std::uint32_t from = 0, to = 0;  // blocks, by their roots
    float distance = 0;
  };

  /// Between blocks that are neighbours in some rank, by `from`.
  std::vector<Gap> gaps_between_blocks() const {
    std::vector<Gap> gaps;
    for (const Rank& rank : graph_.ranks) {
      for (std::size_t k = 1; k < rank.size(); ++k) {
        const std::uint32_t left = at(rank, k - 1), right = at(rank, k);
        gaps.push_back({roots_[left], roots_[right], distance(left, right)});
      }
    }
    return gaps;
  }

  std::vector<float> compact() const {
    const std::vector<Gap> gaps = gaps_between_blocks();
    const std::size_t count = graph_.vertices.size();
    std::vector<std::uint32_t> starts(count + 1, 0), waiting(count, 0);
    for (const Gap& gap : gaps) {
      ++starts[gap.from + 1];
      ++waiting[gap.to];
    }
    for (std::size_t i = 1; i < starts.size(); ++i) {
      starts[i] += starts[i - 1];
    }
    std::vector<std::uint32_t> next = starts, by_from(gaps.size());
    for (std::uint32_t i = 0; i < gaps.size(); ++i) {
      by_from[next[gaps[i].from]++] = i;
    }

    // Leftmost places, in an order in which every block comes after those left of it.
    std::vector<float> x(count, 0);
    std::vector<std::uint32_t> order;
    order.reserve(count);
    for (std::uint32_t v = 0; v < count; ++v) {
      if (roots_[v] == v && waiting[v] == 0) {
        order.push_back(v);
      }
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t block = order[i];
      for (std::uint32_t k = starts[block]; k < starts[block + 1]; ++k) {
        const Gap& gap = gaps[by_from[k]];
        x[gap.to] = std::max(x[gap.to], x[block] + gap.distance);
        if (--waiting[gap.to] == 0) {
          order.push_back(gap.to);
        }
      }
    }
    // Then as far right as the next block allows, which brings loose blocks to their neighbours.
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::uint32_t block = order[i];
      float room = std::numeric_limits<float>::infinity();
      for (std::uint32_t k = starts[block]; k < starts[block + 1]; ++k) {
        const Gap& gap = gaps[by_from[k]];
        room = std::min(room, x[gap.to] - gap.distance);
      }
      if (room < std::numeric_limits<float>::infinity()) {
        x[block] = std::max(x[block], room);
      }
    }
    std::vector<float> columns(count);
    for (std::uint32_t v = 0; v < count; ++v) {
      columns[v] = sweep_.rightwards ? x[roots_[v]] : -x[roots_[v]];
    }
    return columns;
  }

  const LayeredGraph& graph_;
  const LayeredGaps& gaps_;
  const std::vector<bool>& refused_;  // segments that align nothing
  Sweep sweep_;
  std::vector<std::uint32_t> roots_;  // the first vertex of each one's block
};

struct Extent {
  float min = 0, max = 0;
};

Extent extent_of(const LayeredGraph& graph, const std::vector<float>& x) {
  Extent extent{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (std::size_t v = 0; v < x.size(); ++v) {
    extent.min = std::min(extent.min, x[v] - graph.vertices[v].width / 2);
    extent.max = std::max(extent.max, x[v] + graph.vertices[v].width / 2);
  }
  return extent;
}

}  // namespace

std::vector<float> columns_of(const LayeredGraph& graph, const LayeredGaps& gaps) {
  std::vector<bool> refused = crossed_segments(graph);
  keep_waypoints_aside(graph, refused);
  constexpr std::array<Sweep, 4> kSweeps{
      {{true, true}, {true, false}, {false, true}, {false, false}}};
  std::array<std::vector<float>, 4> columns;
  std::array<Extent, 4> extents;
  std::size_t narrowest = 0;
  for (std::size_t i = 0; i < kSweeps.size(); ++i) {
    columns[i] = Columns(graph, gaps, refused, kSweeps[i]).compute();
    extents[i] = extent_of(graph, columns[i]);
    if (extents[i].max - extents[i].min < extents[narrowest].max - extents[narrowest].min) {
      narrowest = i;
    }
  }
  std::vector<float> x(graph.vertices.size());
  for (std::size_t v = 0; v < x.size(); ++v) {
    std::array<float, 4> candidates{};
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const float shift = kSweeps[i].rightwards ? extents[narrowest].min - extents[i].min
                                                : extents[narrowest].max - extents[i].max;
      candidates[i] = columns[i][v] + shift;
    }
    std::sort(candidates.begin(), candidates.end());
    x[v] = (candidates[1] + candidates[2]) / 2;
  }
  return x;
}

}  // namespace reprise::debugger
