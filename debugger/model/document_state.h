// What a Document knows and is doing: which jobs are due, the one that runs, what the last ones
// found. One thread, the one that draws.
#pragma once
#include <array>
#include <chrono>

#include "debugger/model/background.h"
#include "debugger/model/document.h"
#include "debugger/model/document_reads.h"

namespace reprise::debugger {

struct Document::State {
  using Clock = std::chrono::steady_clock;
  /// What the worker does for the user; the problem of each is kept until it succeeds.
  enum Task : std::size_t {
    refreshing,
    loading,
    reading_range,
    reading_steps,
    reading_histogram,
    task_count
  };

  explicit State(std::filesystem::path file) : path(std::move(file)), watch(path) {}

  const std::filesystem::path path;
  ProfileWatch watch;
  std::array<std::string, task_count> problems;
  std::string problem;  // the first of them

  std::optional<std::vector<CaptureSummary>> captures;  // empty before they are read
  std::optional<CaptureId> chosen;
  std::shared_ptr<const Capture> capture;
  ReplayTable replays;
  std::optional<ReplayStatistics> replay_statistics;  // empty until somebody asks
  std::size_t replays_summed = 0;                     // rows that those are of
  std::vector<NodeTimingTable> timings;
  ReplayTally tally;
  std::vector<TimingSource> sources;
  std::optional<TimingSource> source;  // the chosen one; none only if there are none
  std::optional<ReplayRange> range;
  RangeTimes range_times;
  bool of_range = false;  // statistics are those of range_times
  CaptureStatistics statistics;
  std::int64_t known_run = 0;  // the latest that the user knows of
  std::optional<std::size_t> shown_replay;
  bool follows = false;  // it is the newest one
  std::vector<CapturedStepTime> step_times;
  std::optional<std::uint32_t> histogram_node;
  std::vector<HistogramBucket> histogram;

  std::array<bool, task_count> due{true, false, false, false, false};
  Task running = refreshing;  // while background.busy()
  Clock::time_point refreshed{}, timings_read{};
  Clock::duration refresh_took{};
  std::uint64_t file_version = 0, timings_version = 0;  // of the file, and of what `timings` is
  bool changed = false;                                 // since the last poll()
  std::uint64_t revision = 0;
  Background background;  // last: its thread ends before what it uses

  /// `look`: whether the file changed; `eager`: without the pauses between readings of it.
  bool poll(bool look, bool eager);
  void start_next(bool eager);
  void start(Task task, bool eager);
  /// `read` runs on the worker, then `take` in poll() with what it returned.
  template <class Read, class Take>
  void start_job(Task task, Read read, Take take);
  void set_problem(Task task, std::string why);

  void start_refresh(bool eager);
  void take_refresh(Refresh found, std::uint64_t version);
  void start_load();
  void take_load(LoadedCapture loaded, std::uint64_t version);
  void start_range();
  void take_range(RangeTimes found);
  void start_steps();
  void start_histogram();

  void show_replay(std::optional<std::size_t> replay);
  void show_newest();
  /// All runs that the file has now.
  void know_runs();
  std::optional<CaptureId> added_run() const;
  const CaptureSummary* chosen_summary() const;
  bool live() const;
  void forget_capture();
  /// After replays or timings changed.
  void find_sources();
  const NodeTimingTable* table_of_source() const;
  /// Takes the statistics and the histogram that are wanted from what was read, or has it read.
  void show_statistics();
  void show_histogram();
};

}  // namespace reprise::debugger
