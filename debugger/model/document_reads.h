// What a Document reads on worker threads. Every function opens the file anew and touches nothing
// but its arguments; all throw as the readers do.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct LoadedCapture {
  std::shared_ptr<const Capture> capture;
  ReplayTable replays;
  std::vector<NodeTimingTable> timings;
};
LoadedCapture load_capture(const std::filesystem::path& path, const CaptureId& id,
                           const std::stop_token& stop);

/// What is on the screen, to be brought up to date.
struct DisplayedCapture {
  std::optional<CaptureSummary> summary;  // none without a capture
  std::size_t replays = 0;
  ReplayTable last;  // the last replay alone, if there is one
  bool read_timings = false;
};
DisplayedCapture displayed_capture(const Capture* capture, const ReplayTable& replays);

struct Refresh {
  std::vector<CaptureSummary> captures;
  /// The file does not hold what is shown any more, but perhaps something else of that id.
  bool replaced = false;
  ReplayTable new_replays;
  std::optional<std::vector<NodeTimingTable>> timings;
  std::chrono::nanoseconds took{};
};
Refresh refresh(const std::filesystem::path& path, const DisplayedCapture& shown,
                const std::stop_token& stop);

/// Whose step times count: it ran to its end, and is no warm-up.
bool counts(const ReplayRow& row);

/// Ids of the replays of a range that count and were timed so, ascending.
std::vector<std::int64_t> timed_replays(const ReplayTable& table, std::optional<ReplayRange> range,
                                        const TimingSource& source);

/// A node's time is the sum of its steps; without the time of one of them it has none.
std::optional<std::uint64_t> node_time(const Capture& capture, const Capture::Node& node,
                                       std::span<const CapturedStepTime> times);
/// How many replays' step times are read at a time, so that they take no more than 64 MiB.
std::size_t most_replays(const Capture& capture);

/// What is known of the replays of a table that only grows.
struct ReplayTally {
  std::size_t rows = 0;  // how many were looked at
  ReplayCounts counts;
  std::vector<TimingSource> sources;  // those that count and were timed per node
  void update(const ReplayTable& table);
};

/// Some replays of a capture whose step times are wanted.
struct RangeKey {
  std::shared_ptr<const Capture> capture;
  std::vector<std::int64_t> replays{};  // ids, ascending
  std::optional<ReplayRange> range{};   // that they are of
  std::size_t table_size = 0;           // of the replay table
  TimingSource source{};
};
/// The step times of some replays, summed by node.
struct RangeTimes {
  std::optional<ReplayRange> range;                   // as in the key
  std::size_t table_size = 0;                         // the same
  std::vector<std::vector<std::uint64_t>> durations;  // by node, one per replay
  CaptureStatistics statistics;
};
RangeTimes read_range(const std::filesystem::path& path, const RangeKey& key,
                      const std::stop_token& stop);

struct StepTimesKey {
  std::int64_t replay = 0;  // an id
  std::size_t steps = 0;
};
std::vector<CapturedStepTime> read_one_replay(const std::filesystem::path& path,
                                              const StepTimesKey& key, const std::stop_token& stop);

struct HistogramKey {
  CaptureId capture;
  TimingSource source;
  std::uint32_t node = 0;
  bool operator==(const HistogramKey&) const = default;
};
std::vector<HistogramBucket> read_histogram(const std::filesystem::path& path,
                                            const HistogramKey& key, const std::stop_token& stop);

}  // namespace reprise::debugger
