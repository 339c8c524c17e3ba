#include "debugger/model/critical_path.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "debugger/model/node_details.h"

namespace reprise::debugger {
namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

}  // namespace

CriticalPath critical_path(const Capture& capture, const CaptureStatistics& statistics) {
  const std::size_t count = capture.nodes.size();
  std::vector<std::uint64_t> ends(count, 0);  // of the longest chain that a node ends
  std::vector<std::optional<std::uint32_t>> before(count);
  CriticalPath path;
  std::optional<std::uint32_t> last;
  std::size_t edge = 0;
  // Edges are by dst and lead from earlier nodes to later ones: one pass over both is enough.
  for (std::uint32_t n = 0; n < count; ++n) {
    std::uint64_t start = 0;
    for (; edge < capture.edges.size() && capture.edges[edge].dst == n; ++edge) {
      const std::uint32_t src = capture.edges[edge].src;
      if (ends[src] > start) {
        start = ends[src];
        before[n] = src;
      }
    }
    const NodeTiming* const timing = timing_of(statistics, n);
    const std::uint64_t own = timing == nullptr ? 0 : timing->p50_ns;
    ends[n] = sum(start, own);
    path.all_ns = sum(path.all_ns, own);
    if (ends[n] > (last ? ends[*last] : 0)) {
      last = n;
    }
  }
  path.length_ns = last ? ends[*last] : 0;
  for (; last; last = before[*last]) {
    path.nodes.push_back(*last);
  }
  std::reverse(path.nodes.begin(), path.nodes.end());
  return path;
}

}  // namespace reprise::debugger
