#include "debugger/model/statistics.h"

#include <algorithm>
#include <cmath>

#include "debugger/model/format.h"
#include "framework/profile/replay_status.h"

namespace reprise::debugger {
namespace {

NodeTiming timing_of(std::vector<std::uint64_t> ns, std::uint64_t bias_ns) {
  NodeTiming timing;
  timing.count = ns.size();
  std::uint64_t below = 0;
  double squares = 0;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    timing.total_ns += ns[i];
    below += ns[i] / 3 < bias_ns ? 1U : 0U;
    // Welford 1962: no difference of large sums.
    const double from_mean = static_cast<double>(ns[i]) - timing.mean_ns;
    timing.mean_ns += from_mean / static_cast<double>(i + 1);
    squares += from_mean * (static_cast<double>(ns[i]) - timing.mean_ns);
  }
  const auto [min, max] = std::minmax_element(ns.begin(), ns.end());
  timing.min_ns = *min;
  timing.max_ns = *max;
  timing.stddev_ns = ns.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(ns.size() - 1));
  timing.below_bias = 2 * below >= ns.size();
  timing.p50_ns = quantile(ns, 0.5);
  timing.p95_ns = quantile(ns, 0.95);
  return timing;
}

}  // namespace

void add_up(CaptureStatistics& statistics) {
  statistics.replays = statistics.p50_sum_ns = statistics.max_p50_ns = 0;
  for (const std::optional<NodeTiming>& node : statistics.nodes) {
    if (node) {
      statistics.replays = std::max(statistics.replays, node->count);
      statistics.p50_sum_ns += node->p50_ns;
      statistics.max_p50_ns = std::max(statistics.max_p50_ns, node->p50_ns);
    }
  }
}

CaptureStatistics statistics_of(std::span<const std::vector<std::uint64_t>> durations,
                                std::uint64_t bias_ns) {
  CaptureStatistics statistics;
  for (const std::vector<std::uint64_t>& ns : durations) {
    statistics.nodes.push_back(ns.empty() ? std::nullopt : std::optional(timing_of(ns, bias_ns)));
  }
  add_up(statistics);
  return statistics;
}

std::uint64_t quantile(std::vector<std::uint64_t>& values, double share) {
  if (values.empty()) {
    return 0;
  }
  const double rank = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size()));
  const std::size_t at = rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<std::uint64_t> replay_duration(const ReplayRow& row) {
  if (row.device_ns || (!row.submit_ns && !row.wait_ns)) {
    return row.device_ns;
  }
  return row.submit_ns.value_or(0) + row.wait_ns.value_or(0);
}

void ReplayCounts::add(const ReplayRow& row) {
  ++all;
  warm_ups += row.warm_up ? 1U : 0U;
  failed += !row.warm_up && row.status != 0 ? 1U : 0U;
}

std::string replays_text(const CaptureStatistics& statistics) {
  const ReplayCounts& range = statistics.in_range;
  std::string text = count_text(statistics.replays);
  if (range.all > statistics.replays) {
    text += " of " + count_text(range.all);
  }
  text += range.all == 1 ? " replay" : " replays";
  std::string left_out;
  const auto leave_out = [&](std::uint64_t count, const char* what, const char* plural) {
    if (count > 0) {
      left_out += (left_out.empty() ? "; left out: " : ", ") + count_text(count) + " " + what +
                  (count == 1 ? "" : plural);
    }
  };
  leave_out(range.warm_ups, "warm-up", "s");
  leave_out(range.failed, "failed", "");
  leave_out(range.counted() - std::min(range.counted(), statistics.replays), "without such times",
            "");
  return text + left_out;
}

bool has_failed(const ReplayRow& row) {
  return row.status > static_cast<std::uint32_t>(ReplayStatus::skipped);
}

ReplayStatistics replay_statistics(const ReplayTable& table, std::optional<ReplayRange> range) {
  ReplayStatistics statistics;
  std::vector<std::uint64_t> durations;
  const std::size_t first = range ? range->first : 0;
  const std::size_t end = range ? std::min(range->last + 1, table.rows.size()) : table.rows.size();
  for (std::size_t r = first; r < end; ++r) {
    const ReplayRow& row = table.rows[r];
    ++statistics.count;
    statistics.failed += has_failed(row) ? 1U : 0U;
    const std::optional<std::uint64_t> duration = replay_duration(row);
    if (duration && !row.warm_up && row.status == 0) {
      durations.push_back(*duration);
    }
  }
  if (!durations.empty()) {
    statistics.p50_ns = quantile(durations, 0.5);
    statistics.p95_ns = quantile(durations, 0.95);
    statistics.max_ns = *std::max_element(durations.begin(), durations.end());
  }
  return statistics;
}

bool outgrown(std::size_t made, std::size_t rows, bool growing) {
  return rows != made && (!growing || rows < made || rows - made > rows / 256);
}

}  // namespace reprise::debugger
