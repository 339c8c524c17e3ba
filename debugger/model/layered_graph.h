// A graph between layout steps: boxes and waypoints of edges in ranks, where every segment leads
// from one rank to the next. Waypoints of edges that leave the same box are shared.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace reprise::debugger {

struct LayeredGraph {
  struct Vertex {
    std::uint32_t rank = 0;
    std::uint32_t place = 0;  // in its rank
    float width = 0;
    bool waypoint = false;
  };
  /// The neighbours of all vertices in one direction, and the segments that lead there.
  struct Neighbours {
    struct Link {
      std::uint32_t vertex = 0, segment = 0;
    };
    std::vector<std::uint32_t> starts;  // one more than vertices
    std::vector<Link> links;
    std::span<const Link> of(std::uint32_t vertex) const {
      return {links.data() + starts[vertex], links.data() + starts[vertex + 1]};
    }
  };
  struct Segment {
    std::uint32_t upper = 0, lower = 0;
  };

  std::vector<Vertex> vertices;
  std::vector<std::vector<std::uint32_t>> ranks;  // vertices from left to right
  std::vector<Segment> segments;
  Neighbours up, down;

  /// Fills up and down from segments.
  void link();
};

/// Reorders the ranks so that few segments cross.
void reduce_crossings(LayeredGraph& graph);

struct LayeredGaps {
  float column = 0, edge = 0;
};
/// x of the centres of the vertices, in the order of the ranks and without overlap.
std::vector<float> columns_of(const LayeredGraph& graph, const LayeredGaps& gaps);

}  // namespace reprise::debugger
