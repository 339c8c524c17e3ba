#include "debugger/model/item_times.h"

#include <algorithm>

namespace reprise::debugger {

ItemTimes::ItemTimes(const CaptureStatistics& statistics, std::size_t nodes) {
  const auto timed = [](const auto& node) { return node.has_value(); };
  if (statistics.nodes.size() != nodes ||
      std::none_of(statistics.nodes.begin(), statistics.nodes.end(), timed)) {
    return;
  }
  medians_.reserve(nodes + 1);
  medians_.push_back(0);
  for (const std::optional<NodeTiming>& node : statistics.nodes) {
    medians_.push_back(medians_.back() + (node ? node->p50_ns : 0));
  }
}

}  // namespace reprise::debugger
