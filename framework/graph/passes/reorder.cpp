// List scheduling by epochs: what lies between two barriers. A node joins the epoch that is being
// filled if nothing in it has to come before; the next ones in recorded order are looked at.
#include <algorithm>
#include <numeric>

#include "framework/graph/edges.h"
#include "framework/graph/run_passes.h"

namespace reprise {
namespace {

/// How many nodes that wait are looked at for one that need not: what moves forward lives longer.
constexpr std::size_t kReorderWindow = 32;

/// Edges between places in the order, as if no other node had been recorded: those over a node
/// that was removed would be missing.
std::vector<Edge> edges_between(const ComputeGraph& graph, const Schedule& schedule) {
  if (schedule.order.size() == graph.nodes.size()) {
    return edges_of(graph);
  }
  ComputeGraph running;
  running.uses = graph.uses;
  running.tensors = graph.tensors;
  running.storages.resize(graph.storages.size());
  for (const std::uint32_t n : schedule.order) {
    Node& node = running.nodes.emplace_back(graph.nodes[n]);
    if (const auto fused = schedule.fused.find(n); fused != schedule.fused.end()) {
      const std::vector<Use>& uses = fused->second.uses;
      node.first_use = static_cast<std::uint32_t>(running.uses.size());
      node.use_count = static_cast<std::uint8_t>(uses.size());
      running.uses.insert(running.uses.end(), uses.begin(), uses.end());
    }
  }
  return edges_of(running);
}

/// Who waits for each place, as compressed rows, and for how many others it waits itself.
struct Waits {
  explicit Waits(std::span<const Edge> edges, std::size_t places)
      : first(places + 1), waiting(edges.size()), missing(places) {
    for (const Edge& edge : edges) {
      ++first[edge.src + 1];
      ++missing[edge.dst];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::size_t> at(first.begin(), first.end() - 1);
    for (const Edge& edge : edges) {
      waiting[at[edge.src]++] = edge.dst;
    }
  }
  std::span<const std::uint32_t> on(std::uint32_t place) const {
    return std::span(waiting).subspan(first[place], first[place + 1] - first[place]);
  }
  std::vector<std::size_t> first;
  std::vector<std::uint32_t> waiting;
  std::vector<std::uint32_t> missing;
};

/// Epochs that fill one after another.
class Epochs {
 public:
  explicit Epochs(const Waits& waits)
      : waits_(waits), missing_(waits.missing), earliest_(waits.missing.size(), 0) {}
  /// Whether the place can join the epoch that is being filled.
  bool ready(std::uint32_t place) const {
    return missing_[place] == 0 && earliest_[place] <= current_;
  }
  /// Begins another epoch if it has to. Everything it waits for was added before.
  void add(std::uint32_t place) {
    current_ = std::max(current_, earliest_[place]);
    for (const std::uint32_t waiting : waits_.on(place)) {
      --missing_[waiting];
      earliest_[waiting] = current_ + 1;
    }
  }
  std::uint32_t barriers() const { return current_; }

 private:
  const Waits& waits_;
  std::vector<std::uint32_t> missing_;
  std::vector<std::uint32_t> earliest_;  // epoch: after all that was added of what it waits for
  std::uint32_t current_ = 0;
};

bool is_fence(const ComputeGraph& graph, std::uint32_t node) {
  return graph.host_steps.contains(node) || graph.decides_iterations(node);
}

/// Barriers that the places need one after another.
std::uint32_t count_barriers(const Waits& waits) {
  Epochs epochs(waits);
  for (std::uint32_t p = 0; p < waits.missing.size(); ++p) {
    epochs.add(p);
  }
  return epochs.barriers();
}

struct Packed {
  std::vector<std::uint32_t> order;  // nodes
  std::uint32_t barriers = 0;
};

Packed pack(const ComputeGraph& graph, const Waits& waits, std::span<const std::uint32_t> order) {
  Epochs epochs(waits);
  Packed packed;
  packed.order.reserve(order.size());
  std::vector<std::uint32_t> window;  // places
  std::uint32_t next = 0;
  bool fenced = false;  // the window is a fence alone: everything before it is placed
  while (next < order.size() || !window.empty()) {
    while (window.size() < kReorderWindow && next < order.size() && !fenced) {
      const bool fence = is_fence(graph, order[next]);
      if (fence && !window.empty()) {
        break;
      }
      fenced = fence;
      window.push_back(next++);
    }
    auto chosen = std::ranges::find_if(window, [&](std::uint32_t p) { return epochs.ready(p); });
    if (chosen == window.end()) {
      chosen = window.begin();  // the first in recorded order waits for none behind it
    }
    epochs.add(*chosen);
    packed.order.push_back(order[*chosen]);
    window.erase(chosen);
    fenced = false;
  }
  packed.barriers = epochs.barriers();
  return packed;
}

}  // namespace

void reorder_nodes(const ComputeGraph& graph, Schedule& schedule) {
  const Waits waits(edges_between(graph, schedule), schedule.order.size());
  Packed packed = pack(graph, waits, schedule.order);
  const std::uint32_t as_recorded = count_barriers(waits);
  const std::string counts =
      joined_text("(", packed.barriers, ") barriers instead of (", as_recorded, ")");
  const bool better = packed.barriers < as_recorded;
  schedule.decisions.push_back({"reorder", "order", kNoIndex, better, counts});
  if (!better) {
    return;
  }
  std::vector<std::uint32_t> moved;  // those that overtake one, last first
  std::uint32_t least_behind = kNoIndex;
  for (std::size_t i = packed.order.size(); i-- > 0;) {
    if (packed.order[i] > least_behind) {
      moved.push_back(packed.order[i]);
    }
    least_behind = std::min(least_behind, packed.order[i]);
  }
  for (std::size_t i = moved.size(); i-- > 0;) {
    schedule.decisions.push_back(
        {"reorder", "moved", moved[i], true, "it need not wait where it was recorded"});
  }
  schedule.order = std::move(packed.order);
}

}  // namespace reprise
