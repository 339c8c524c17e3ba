// What neighbouring nodes come to, as those of a scope or of the whole capture.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct NodeSums {
  std::uint64_t p50_ns = 0, flops = 0, bytes = 0;
  std::vector<std::uint32_t> slowest;  // those with the greatest medians, the slowest first
};

/// Names at most `most` nodes as the slowest, none that was not timed.
NodeSums sums_of(const Capture& capture, const CaptureStatistics& statistics,
                 std::span<const std::uint32_t> nodes, std::size_t max);
NodeSums sums_of(const Capture& capture, const CaptureStatistics& statistics, Capture::Range nodes,
                 std::size_t max);

}  // namespace reprise::debugger
