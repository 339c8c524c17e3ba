// A profiling database that is being written, and the replays of one graph to write into it.
#pragma once
#include <chrono>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/synthetic_capture.h"

namespace reprise::bench {

class SyntheticReplays {
 public:
  SyntheticReplays(const std::filesystem::path& path, std::size_t nodes)
      : sink_(open_profile(path, {})), graph_(synthetic_graph(nodes, "decode")) {
    sink_->device(synthetic_device());
    RecordingRecord recording;
    recording.id = sink_->next_id();
    recording.plan = graph_;
    record_.recording = recording.id;
    sink_->send(std::move(recording));
    sink_->flush();
    ticks_.resize(graph_->steps.size() + 1);
    record_.prepare_ns = 900;
    record_.submit_ns = 4'000;
    record_.wait_ns = 2'000'000;
    record_.device_start_ns = 1;
    record_.device_ns = 2'000'000;
    record_.state = state_;
  }

  /// The next replay; its step times are drawn.
  const ReplayRecord& next(TimingMode mode) {
    ++record_.sequence;
    record_.submission = record_.sequence;
    record_.submit_time_ns += 2'010'000;
    record_.timing_mode = mode;
    record_.step_ticks = {};
    if (mode == TimingMode::node) {
      std::uint64_t tick = record_.sequence << 32U;
      for (std::uint64_t& t : ticks_) {
        t = tick += 1'000 + random_() % 8'192;
      }
      record_.step_ticks = ticks_;
    }
    return record_;
  }

  /// As many replays as that, without waiting for the writer but where the ring has no room.
  void write(std::size_t replays, TimingMode mode) {
    constexpr std::uint64_t kAhead = 1'024;
    for (std::size_t r = 0; r < replays; ++r) {
      while (written_ - sink_->health().replays_committed > kAhead) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      sink_->replay(next(mode));
      ++written_;
    }
    sink_->flush();
    require_complete();
  }

  void require_complete() const {
    const ProfileHealth health = sink_->health();
    if (health.replays_dropped + health.timings_dropped + health.records_dropped > 0) {
      throw std::runtime_error("The writer of the profile dropped records.");
    }
  }

  ProfileSink& sink() { return *sink_; }
  std::size_t steps() const { return graph_->steps.size(); }

 private:
  std::shared_ptr<ProfileSink> sink_;
  std::shared_ptr<const ExecutionPlan> graph_;
  std::mt19937_64 random_{1};
  std::vector<std::uint64_t> ticks_;
  std::array<std::uint32_t, 8> state_{};
  ReplayRecord record_;
  std::uint64_t written_ = 0;
};

}  // namespace reprise::bench
