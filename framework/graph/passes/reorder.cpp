// List scheduling by epochs: what lies between two barriers. A node joins the epoch that is being
// filled if nothing in it has to come before; the next ones in recorded order are looked at.
#include <algorithm>

#include "reprise/graph/edges.h"
#include "reprise/graph/passes.h"

namespace reprise {
namespace {

/// How many nodes that wait are looked at for one that need not: what moves forward lives longer.
constexpr std::size_t kWindow = 32;

/// The direct predecessors of every node, as compressed rows.
class Predecessors {
 public:
  explicit Predecessors(const ComputeGraph& graph) : edges_(edges_of(graph)) {
    row_.assign(graph.nodes.size() + 1, 0);
    for (const Edge& edge : edges_) {
      ++row_[edge.dst + 1];
    }
    for (std::size_t n = 1; n < row_.size(); ++n) {
      row_[n] += row_[n - 1];
    }
  }
  std::span<const Edge> of(std::uint32_t node) const {  // edges are in order of dst
    return std::span(edges_).subspan(row_[node], row_[node + 1] - row_[node]);
  }

 private:
  std::vector<Edge> edges_;
  std::vector<std::size_t> row_;
};

constexpr std::uint32_t kWaiting = kNoIndex;
constexpr std::uint32_t kRemoved = kNoIndex - 1;

/// Barriers that an order needs: one before each node that depends on one since the last barrier.
std::uint32_t count_barriers(const ComputeGraph& graph, const Predecessors& before,
                             std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> epoch(graph.nodes.size(), kRemoved);
  std::uint32_t current = 0;
  for (const std::uint32_t n : order) {
    const bool waits = std::ranges::any_of(
        before.of(n), [&](const Edge& edge) { return epoch[edge.src] == current; });
    current += waits ? 1U : 0U;
    epoch[n] = current;
  }
  return current;
}

bool is_fence(const ComputeGraph& graph, std::uint32_t node) {
  return graph.host_steps.contains(node) || graph.decides_iterations(node);
}

std::vector<std::uint32_t> pack(const ComputeGraph& graph, const Predecessors& before,
                                std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> epoch(graph.nodes.size(), kRemoved);
  for (const std::uint32_t n : order) {
    epoch[n] = kWaiting;
  }
  std::vector<std::uint32_t> packed;
  packed.reserve(order.size());
  std::vector<std::uint32_t> window;
  std::size_t next = 0;
  std::uint32_t current = 0;
  const auto ready = [&](std::uint32_t n, bool in_next_epoch) {
    return std::ranges::all_of(before.of(n), [&](const Edge& edge) {
      return epoch[edge.src] == kRemoved ||
             (epoch[edge.src] != kWaiting && (in_next_epoch || epoch[edge.src] < current));
    });
  };
  while (next < order.size() || !window.empty()) {
    const auto open = [&] {  // a fence waits until everything before it is placed
      return window.size() < kWindow && next < order.size() &&
             (window.empty() || !is_fence(graph, order[next])) &&
             (window.empty() || !is_fence(graph, window.front()));
    };
    while (open()) {
      window.push_back(order[next++]);
    }
    auto chosen = std::ranges::find_if(window, [&](std::uint32_t n) { return ready(n, false); });
    if (chosen == window.end()) {
      ++current;
      chosen = window.begin();  // the first in recorded order depends on none behind it
    }
    epoch[*chosen] = current;
    packed.push_back(*chosen);
    window.erase(chosen);
  }
  return packed;
}

}  // namespace

void reorder_nodes(const ComputeGraph& graph, Schedule& schedule) {
  const Predecessors before(graph);
  std::vector<std::uint32_t> packed = pack(graph, before, schedule.order);
  const std::uint32_t as_recorded = count_barriers(graph, before, schedule.order);
  const std::uint32_t as_packed = count_barriers(graph, before, packed);
  const std::string counts = "(" + std::to_string(as_packed) + ") barriers instead of (" +
                             std::to_string(as_recorded) + ")";
  const bool better = as_packed < as_recorded;
  schedule.decisions.push_back({"reorder", "order", kNoIndex, better, counts});
  if (!better) {
    return;
  }
  for (std::size_t i = 0; i < packed.size(); ++i) {
    if (packed[i] != schedule.order[i]) {
      schedule.decisions.push_back(
          {"reorder", "moved", packed[i], true, "it need not wait where it was recorded"});
    }
  }
  schedule.order = std::move(packed);
}

}  // namespace reprise
