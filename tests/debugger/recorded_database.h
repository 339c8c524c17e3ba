// A database with replays timed per node, written as programs write it.
#pragma once
#include <filesystem>
#include <random>

#include "framework/profile/capture_reader.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"

namespace reprise::debugger {

struct RecordedOptions {
  std::size_t scales = 0;  // nodes of two steps
  std::uint64_t replays = 0;
  TimingMode timing = TimingMode::node;
};

class RecordedDatabase {
 public:
  RecordedDatabase(const RecordedOptions& options, std::mt19937_64& random) {
    test::GraphOptions graph_options;
    graph_options.scales = options.scales;
    const auto graph = test::GraphMaker(graph_options).make();
    const auto sink = open_profile(path(), test::run_info("test", "recorded"), {});
    sink->device(test::nanosecond_device());
    const std::uint64_t recording = test::send_recording(*sink, graph);
    for (std::uint64_t r = 0; r < options.replays; ++r) {
      test::TimedReplay replay(recording, r, test::random_durations(random, graph->steps.size()));
      const std::array<std::uint32_t, 3> state{static_cast<std::uint32_t>(100 + r),
                                               static_cast<std::uint32_t>(r), 0};
      replay.record.state = state;
      replay.record.submit_time_ns = static_cast<std::int64_t>(1'000'000 * (r + 1));
      replay.record.prepare_ns = 300;
      replay.record.submit_ns = 700;
      replay.record.wait_ns = 100'000;
      replay.record.timing_mode = options.timing;
      if (options.timing != TimingMode::node) {
        replay.record.step_ticks = {};
      }
      sink->replay(replay.record);
    }
  }

  std::filesystem::path path() const { return folder_ / "profile.db"; }
  CaptureId id() const { return {.run = 1, .graph = 1}; }

 private:
  test::TempFolder folder_;
};

}  // namespace reprise::debugger
