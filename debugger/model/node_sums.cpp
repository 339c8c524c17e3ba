#include "debugger/model/node_sums.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "debugger/model/node_details.h"

namespace reprise::debugger {

NodeSums sums_of(const Capture& capture, const CaptureStatistics& statistics, Capture::Range nodes,
                 std::size_t max) {
  std::vector<std::uint32_t> all(nodes.count);
  std::iota(all.begin(), all.end(), nodes.first);
  return sums_of(capture, statistics, all, max);
}

NodeSums sums_of(const Capture& capture, const CaptureStatistics& statistics,
                 std::span<const std::uint32_t> nodes, std::size_t max) {
  NodeSums sums;
  for (const std::uint32_t n : nodes) {
    const Capture::Node& node = capture.nodes[n];
    sums.flops += node.flops.value_or(0);
    sums.bytes += bytes_of(node).value_or(0);
    if (const NodeTiming* const timing = timing_of(statistics, n)) {
      sums.p50_ns += timing->p50_ns;
      sums.slowest.push_back(n);
    }
  }
  const auto p50 = [&](std::uint32_t node) { return timing_of(statistics, node)->p50_ns; };
  const std::size_t named = std::min(max, sums.slowest.size());
  std::partial_sort(sums.slowest.begin(), sums.slowest.begin() + static_cast<std::ptrdiff_t>(named),
                    sums.slowest.end(), [&](std::uint32_t a, std::uint32_t b) {
                      return std::pair(p50(b), a) < std::pair(p50(a), b);
                    });
  sums.slowest.resize(named);
  return sums;
}

}  // namespace reprise::debugger
