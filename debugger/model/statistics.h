// Times of the nodes of a capture over a range of its replays, and sums of them over scopes.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// Positions in a ReplayTable, both ends included.
struct ReplayRange {
  std::size_t first = 0, last = 0;
  bool operator==(const ReplayRange&) const = default;
};

struct TimingSource {
  std::string phase;
  TimingMode mode = TimingMode::node;
  bool operator==(const TimingSource&) const = default;
};

/// Replays by whether their times count: warm-ups and those that failed or were skipped do not.
struct ReplayCounts {
  std::uint64_t all = 0, warm_ups = 0, failed = 0;
  void add(const ReplayRow& row);
  std::uint64_t counted() const { return all - warm_ups - failed; }
};

struct CaptureStatistics {
  std::vector<std::optional<NodeTiming>> nodes;  // one per node; empty without node times
  std::uint64_t replays = 0;                     // how many replays the times are of
  /// How many the range holds. More count than `replays` if not all are timed, or only a sample of
  /// them was read.
  ReplayCounts in_range;
  /// Of the medians of all nodes: what shares are of, so that they agree with the times shown.
  std::uint64_t p50_sum_ns = 0;
  std::uint64_t max_p50_ns = 0;  // of one node
  TimingSource source;
};

/// "63 of 66 replays; left out: 3 warm-ups": of which replays the times are.
std::string replays_text(const CaptureStatistics& statistics);

/// Of the replays of one range. `durations[node]` are the times of a node, one per timed replay.
CaptureStatistics statistics_of(std::span<const std::vector<std::uint64_t>> durations,
                                std::uint64_t bias_ns);

/// Fills replays, p50_sum_ns and max_p50_ns in from the nodes.
void add_up(CaptureStatistics& statistics);

/// p-quantile of unsorted values (0 to 1), the smallest value with at least that share at or below
/// it; 0 without values. Reorders `values`.
std::uint64_t quantile(std::vector<std::uint64_t>& values, double share);

/// How long a replay took: on the device; without that the host's submitting and waiting.
std::optional<std::uint64_t> replay_duration(const ReplayRow& row);

/// It neither ran nor was skipped.
bool has_failed(const ReplayRow& row);

/// How long the replays of a range took.
struct ReplayStatistics {
  std::uint64_t count = 0, failed = 0;  // of all; the quantiles leave warm-ups and failed ones out
  std::optional<std::uint64_t> p50_ns, p95_ns, max_ns;
};
ReplayStatistics replay_statistics(const ReplayTable& table, std::optional<ReplayRange> range);

/// Whether what was made of the first rows of a table, so many, is due again now that it has
/// `rows`. While it grows, not for one more in 256: nobody would see it, and of a million rows all
/// of them cost 80 ms of the thread that draws.
bool outgrown(std::size_t made, std::size_t rows, bool growing);

}  // namespace reprise::debugger
