#include "debugger/model/barrier_list.h"

#include <algorithm>

#include "debugger/model/critical_path.h"
#include "debugger/model/node_details.h"

namespace reprise::debugger {
namespace {

/// A barrier lists no more: its range may lie in many tensors of a damaged file.
constexpr std::size_t kMaxTensors = 8;

std::optional<std::uint32_t> node_of(const Capture& capture, std::optional<std::uint32_t> step) {
  return step ? capture.steps[*step].node : std::nullopt;
}

bool lies_in(const Capture::Tensor& tensor, const Capture::Barrier& barrier) {
  // Both numbers of a range are below 2^63, as the file has them.
  return tensor.pool == barrier.pool &&
         tensor.offset_bytes < barrier.offset_bytes + barrier.size_bytes &&
         barrier.offset_bytes < tensor.offset_bytes + tensor.bytes;
}

template <class Key>
void sort_by(std::vector<std::uint32_t>& rows, bool descending, Key key) {
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return descending ? key(b) < key(a) : key(a) < key(b);
  });
}

}  // namespace

BarrierVerdict verdict_of(const Capture::Barrier& barrier) {
  if (barrier.required) {
    return barrier.emitted ? BarrierVerdict::emitted : BarrierVerdict::missing;
  }
  return barrier.emitted ? BarrierVerdict::redundant : BarrierVerdict::unneeded;
}

const char* name_of(BarrierVerdict verdict) {
  static constexpr const char* kNames[] = {"emitted", "missing", "redundant", "not needed"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const char* name_of(BarrierFilter filter) {
  static constexpr std::array<const char*, kBarrierFilters> kNames{"all", "RAW",     "WAR",
                                                                   "WAW", "missing", "redundant"};
  return kNames[static_cast<std::size_t>(filter)];
}

bool shows(BarrierFilter filter, const Capture::Barrier& barrier) {
  switch (filter) {
    case BarrierFilter::missing:
      return verdict_of(barrier) == BarrierVerdict::missing;
    case BarrierFilter::redundant:
      return verdict_of(barrier) == BarrierVerdict::redundant;
    case BarrierFilter::all:
      return true;
    default:
      return barrier.kind == name_of(filter);
  }
}

BarrierCounts counts_of(const std::vector<Capture::Barrier>& barriers) {
  BarrierCounts counts;
  for (const Capture::Barrier& barrier : barriers) {
    for (std::size_t f = 0; f < kBarrierFilters; ++f) {
      counts.shown[f] += shows(static_cast<BarrierFilter>(f), barrier) ? 1U : 0U;
    }
    counts.required += barrier.required ? 1U : 0U;
    counts.emitted += barrier.emitted ? 1U : 0U;
  }
  return counts;
}

std::optional<std::uint32_t> waiting_node(const Capture& capture, const Capture::Barrier& barrier) {
  return node_of(capture, barrier.before_step);
}

std::optional<std::uint32_t> cause_node(const Capture& capture, const Capture::Barrier& barrier) {
  return node_of(capture, barrier.cause_src);
}

std::string tensors_text(const Capture& capture, const Capture::Barrier& barrier) {
  std::vector<std::uint32_t> seen;
  std::string text;
  for (const auto node : {cause_node(capture, barrier), waiting_node(capture, barrier)}) {
    const Capture::Range operands = node ? capture.nodes[*node].operands : Capture::Range();
    for (std::uint32_t o = 0; o < operands.count && seen.size() < kMaxTensors; ++o) {
      const std::uint32_t used = capture.operands[operands.first + o].tensor;
      const std::uint32_t tensor = aliased(capture, used);
      if (barrier.pool && lies_in(capture.tensors[used], barrier) &&
          std::find(seen.begin(), seen.end(), tensor) == seen.end()) {
        seen.push_back(tensor);
        const std::string& name = capture.tensors[tensor].name;
        text +=
            (text.empty() ? "" : ", ") + (name.empty() ? "tensor " + std::to_string(tensor) : name);
      }
    }
  }
  return text;
}

std::vector<std::optional<BarrierTimes>> barrier_times(const Capture& capture,
                                                       const CaptureStatistics& statistics) {
  std::vector<std::optional<BarrierTimes>> found(capture.barriers.size());
  if (statistics.nodes.empty()) {
    return found;
  }
  const std::size_t steps = capture.steps.size();
  // Sums of the steps before each. A node's time is shared by its steps.
  std::vector<std::uint64_t> until(steps + 1, 0);
  for (std::size_t s = 0; s < steps; ++s) {
    const auto node = capture.steps[s].node;
    const NodeTiming* const timing = node ? timing_of(statistics, *node) : nullptr;
    const std::uint64_t own =
        timing == nullptr
            ? 0
            : timing->p50_ns / std::max<std::uint64_t>(capture.nodes[*node].steps.count, 1);
    until[s + 1] = until[s] + own;
  }
  std::vector<std::uint32_t> stops;  // steps that wait
  for (const Capture::Barrier& barrier : capture.barriers) {
    if (barrier.emitted) {
      stops.push_back(barrier.before_step);
    }
  }
  std::ranges::sort(stops);
  const CriticalPath path = critical_path(capture, statistics);
  const auto critical = [&](std::optional<std::uint32_t> node) {
    return node && std::ranges::find(path.nodes, *node) != path.nodes.end();
  };
  for (std::size_t b = 0; b < found.size(); ++b) {
    const Capture::Barrier& barrier = capture.barriers[b];
    if (!barrier.emitted) {
      continue;
    }
    const auto at = std::ranges::lower_bound(stops, barrier.before_step);
    const auto next = std::ranges::upper_bound(stops, barrier.before_step);
    const std::size_t first = at == stops.begin() ? 0 : *(at - 1);
    const std::size_t end = next == stops.end() ? steps : *next;
    found[b] = BarrierTimes{
        until[barrier.before_step] - until[first], until[end] - until[barrier.before_step],
        critical(waiting_node(capture, barrier)) && critical(cause_node(capture, barrier))};
  }
  return found;
}

std::vector<std::uint32_t> barrier_rows(const Capture& capture, BarrierFilter filter,
                                        BarrierOrder order, bool descending,
                                        std::span<const std::optional<BarrierTimes>> times) {
  const auto& barriers = capture.barriers;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t b = 0; b < barriers.size(); ++b) {
    if (shows(filter, barriers[b])) {
      rows.push_back(b);
    }
  }
  switch (order) {
    case BarrierOrder::step:
      sort_by(rows, descending, [&](std::uint32_t b) { return barriers[b].before_step; });
      break;
    case BarrierOrder::kind:
      sort_by(rows, descending,
              [&](std::uint32_t b) { return std::string_view(barriers[b].kind); });
      break;
    case BarrierOrder::verdict:
      sort_by(rows, descending, [&](std::uint32_t b) { return verdict_of(barriers[b]); });
      break;
    case BarrierOrder::size:
      sort_by(rows, descending, [&](std::uint32_t b) { return barriers[b].size_bytes; });
      break;
    case BarrierOrder::cost:
      sort_by(rows, descending, [&](std::uint32_t b) {
        return b < times.size() && times[b] ? times[b]->cost_ns() : 0;
      });
      break;
  }
  return rows;
}

}  // namespace reprise::debugger
