// The rows of a run that a trace is made of, a page at a time: nothing of the file stays open while
// they are written out, and no more of them are in memory. Numbers are as stored, or at the nearest
// end of a range in which sums of a few cannot overflow.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "debugger/cli/device_moments.h"

namespace reprise::cli {

/// Host times of rows are nanoseconds on the clock of the run's machine.
struct TraceRun {
  std::int64_t id = 0, rank = 0, world_size = 1, host = 0;
  std::string name;  // the label, or what the program calls itself
  std::int64_t start_ns = 0, end_ns = 0;
  std::optional<std::int64_t> calendar_ns;  // what calendar time is ahead of its clock
};

struct TraceDevice {
  std::int64_t id = 0;
  std::string name;
  DeviceMoments moments;
};

struct TraceReplay {
  std::int64_t id = 0, recording = 0, graph = 0, device = 0, sequence = 0, submission = 0;
  std::int64_t iteration = 0, submit_time_ns = 0, timing_mode = 0, status = 0;
  std::optional<std::int64_t> slot, prepare_ns, submit_ns, wait_ns, device_start_ns, device_ns;
  std::string phase;
  bool warm_up = false, has_step_times = false;
};

struct TraceScope {
  std::int64_t id = 0, start_ns = 0, duration_ns = 0;
  std::string thread, name, category;
};

/// Something that happened: an event, or a recording that began or ended.
struct TraceInstant {
  std::int64_t time_ns = 0;
  std::string name;
  std::vector<std::pair<const char*, std::string>> about;
};

struct TraceSample {
  std::int64_t time_ns = 0;
  std::string name;
  double value = 0;
};

/// Which rows: all of a run, or those that belong to one replay and to the time it took.
struct TraceChoice {
  std::optional<std::int64_t> run{}, replay{};
};

class TraceRows {
 public:
  TraceRows(std::string path, const TraceChoice& choice)
      : path_(std::move(path)), choice_(choice) {}

  /// The chosen run, or the latest, and those of other processes at the same time: `merge` puts
  /// them into one file. Throws invalid_argument if there is no such run.
  std::vector<TraceRun> runs() const;
  std::vector<TraceDevice> devices(const TraceRun& run) const;
  /// The earliest host time of a run.
  std::int64_t first_ns(const TraceRun& run) const;

  void each_replay_page(const TraceRun& run,
                        const std::function<void(const std::vector<TraceReplay>&)>& each) const;
  /// By begin, then the longest first.
  void each_scope(const TraceRun& run, const std::function<void(const TraceScope&)>& each) const;
  void each_instant(const TraceRun& run,
                    const std::function<void(const TraceInstant&)>& each) const;
  /// By time.
  void each_sample(const TraceRun& run, const std::function<void(const TraceSample&)>& each) const;

 private:
  std::string window(const TraceRun& run, const std::string& begin, const std::string& end) const;
  std::string path_;
  TraceChoice choice_;
};

}  // namespace reprise::cli
