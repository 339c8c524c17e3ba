#include "bench/debugger_layout.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "debugger/model/folded_graph.h"
#include "debugger/model/graph_layout.h"

namespace reprise::bench {
namespace {

template <class F>
double median_ms(F&& f) {
  std::array<double, 11> times{};
  for (double& time : times) {
    const auto start = std::chrono::steady_clock::now();
    f();
    time =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

LayoutTimes measure_layout(const Capture& capture) {
  LayoutTimes times;
  debugger::ScopeTree scopes;
  times.scope_tree_ms = median_ms([&] { scopes = debugger::ScopeTree(capture); });
  debugger::FoldState folds(scopes);
  folds.unfold_all();
  debugger::FoldedGraph graph;
  times.fold_ms = median_ms([&] { graph = debugger::folded_graph(capture, scopes, folds); });
  const std::vector<debugger::LayoutSize> sizes(graph.boxes.size(), {176, 48});
  std::vector<debugger::LayoutEdge> edges;
  for (const debugger::FoldedGraph::Edge& edge : graph.edges) {
    edges.push_back({edge.src, edge.dst});
  }
  times.layout_ms = median_ms([&] { debugger::layout_graph(sizes, edges); });
  times.boxes = sizes.size();
  times.edges = edges.size();
  return times;
}

}  // namespace reprise::bench
