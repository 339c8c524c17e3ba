// Replays timed per node, with random ticks, and what they have to mean.
#pragma once
#include <random>
#include <vector>

#include "tests/profile/recorded_graphs.h"

namespace reprise::test {

/// A device whose ticks are nanoseconds and whose counter wraps around soon.
inline DeviceInfo nanosecond_device() {
  DeviceInfo device = test_device();
  device.timestamp_period_ns = 1;
  device.timestamp_valid_bits = 36;
  return device;
}

/// One timed replay of a recording: the durations of its steps, nanoseconds.
struct TimedReplay {
  TimedReplay(std::uint64_t recording, std::uint64_t sequence, std::vector<std::uint64_t> step_ns)
      : durations(std::move(step_ns)) {
    constexpr std::uint64_t kMask = (std::uint64_t{1} << 36U) - 1;
    std::uint64_t ns_to_wrap = 100'001 - sequence % 100'000;  // wraps around in most replays
    std::uint64_t total = 0;
    for (const std::uint64_t ns : durations) {
      total += ns;
      ns_to_wrap += total == ns_to_wrap ? 1 : 0;  // a tick of 0 is one that was not written
    }
    ticks.push_back((kMask + 1 - ns_to_wrap) & kMask);
    for (const std::uint64_t ns : durations) {
      ticks.push_back((ticks.back() + ns) & kMask);
    }
    record.recording = recording;
    record.sequence = record.submission = sequence;
    record.device_ns = total;
    record.timing_mode = TimingMode::node;
    record.step_ticks = ticks;
  }
  TimedReplay(const TimedReplay&) = delete;
  TimedReplay& operator=(const TimedReplay&) = delete;

  std::vector<std::uint64_t> durations, ticks;
  ReplayRecord record;
};

inline std::vector<std::uint64_t> random_durations(std::mt19937_64& random, std::size_t steps) {
  std::vector<std::uint64_t> durations(steps);
  for (std::size_t s = 0; s < steps; ++s) {
    durations[s] = 100 + random() % (1000 * (s + 1));
  }
  return durations;
}

/// Times of nodes: the sum of their steps.
inline std::vector<std::uint64_t> node_times(const ExecutionPlan& plan,
                                             const std::vector<std::uint64_t>& durations) {
  std::vector<std::uint64_t> times(plan.graph->nodes.size(), 0);
  for (std::size_t s = 0; s < durations.size(); ++s) {
    times[plan.steps[s].node] += durations[s];
  }
  return times;
}

}  // namespace reprise::test
