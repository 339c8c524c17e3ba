// The longest chain of nodes that wait for each other: what a replay would take if everything else
// ran beside it.
#pragma once
#include <cstdint>
#include <vector>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct CriticalPath {
  std::vector<std::uint32_t> nodes;  // as they wait for each other; empty without times
  std::uint64_t length_ns = 0;       // the sum of their medians
  std::uint64_t all_ns = 0;          // of the medians of all nodes
};
/// By all edges, of every kind; nodes without a time take none.
CriticalPath critical_path(const Capture& capture, const CaptureStatistics& statistics);

}  // namespace reprise::debugger
