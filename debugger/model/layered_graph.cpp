#include "debugger/model/layered_graph.h"

namespace reprise::debugger {
namespace {

LayeredGraph::Neighbours neighbours_of(const LayeredGraph& graph, bool upwards) {
  const auto from = [&](const LayeredGraph::Segment& s) { return upwards ? s.lower : s.upper; };
  const auto to = [&](const LayeredGraph::Segment& s) { return upwards ? s.upper : s.lower; };
  LayeredGraph::Neighbours neighbours;
  neighbours.starts.assign(graph.vertices.size() + 1, 0);
  for (const LayeredGraph::Segment& segment : graph.segments) {
    ++neighbours.starts[from(segment) + 1];
  }
  for (std::size_t i = 1; i < neighbours.starts.size(); ++i) {
    neighbours.starts[i] += neighbours.starts[i - 1];
  }
  neighbours.links.resize(graph.segments.size());
  std::vector<std::uint32_t> next = neighbours.starts;
  for (std::uint32_t i = 0; i < graph.segments.size(); ++i) {
    neighbours.links[next[from(graph.segments[i])]++] = {to(graph.segments[i]), i};
  }
  return neighbours;
}

}  // namespace

void LayeredGraph::link() {
  up = neighbours_of(*this, true);
  down = neighbours_of(*this, false);
}

}  // namespace reprise::debugger
