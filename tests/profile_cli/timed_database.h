// Profiling databases of which every number is known, and what commands print about them.
#pragma once
#include <functional>

#include <gtest/gtest.h>

#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"

namespace reprise::test {

/// What `f` prints on standard output.
inline std::string printed(const std::function<void()>& f) {
  ::testing::internal::CaptureStdout();
  try {
    f();
  } catch (...) {
    ::testing::internal::GetCapturedStdout();
    throw;
  }
  return ::testing::internal::GetCapturedStdout();
}

/// What `f` throws; "nothing" if it does not.
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

/// A run of one graph whose replays took `step_ns(r, s)` in step s of replay r. Of its four nodes
/// (norm, add, scale, norm) the third has two steps. The first replay is a warm-up.
struct RunShape {
  std::string label = "first";
  std::uint64_t replays = 4;
  std::function<std::uint64_t(std::uint64_t, std::size_t)> step_ns =
      [](std::uint64_t, std::size_t s) { return (s + 1) * 1000; };
  GraphOptions graph{.scales = 1};
  TimingMode mode = TimingMode::node;
};

inline void write_run(const std::filesystem::path& path, const RunShape& shape = {}) {
  const auto graph = GraphMaker(shape.graph).make();
  RunInfo info = run_info("test", shape.label, {"test", "--secret"});
  info.model_path = "/home/somebody/model.gguf";
  const auto sink = open_profile(path, info);
  sink->device(nanosecond_device());
  const std::uint64_t recording = send_recording(*sink, graph);
  for (std::uint64_t r = 0; r < shape.replays; ++r) {
    std::vector<std::uint64_t> ns;
    for (std::size_t s = 0; s < graph->steps.size(); ++s) {
      ns.push_back(shape.step_ns(r, s));
    }
    TimedReplay replay(recording, r, ns);
    const std::array<std::uint32_t, 3> state{7, static_cast<std::uint32_t>(r), 0x5EC4E7};
    replay.record.state = state;
    replay.record.submit_time_ns = static_cast<std::int64_t>(1'000'000 * (r + 1));
    replay.record.prepare_ns = 500;
    replay.record.submit_ns = 1500;
    replay.record.wait_ns = 20'000;
    replay.record.timing_mode = shape.mode;
    replay.record.warm_up = r == 0;
    if (shape.mode == TimingMode::off) {
      replay.record.step_ticks = {};
    }
    sink->replay(replay.record);
  }
}

class TimedDatabase : public ::testing::Test {
 protected:
  std::string path() const { return path_.string(); }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

}  // namespace reprise::test
