#include "bench/full_capture.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/synthetic_capture.h"
#include "framework/profile/profile_sink.h"
#include "shaders/shader_table.h"

namespace reprise::bench {
namespace {

constexpr std::size_t kBaseReplays = 64;  // of the first run
constexpr std::size_t kLessNodes = 15;    // of its graph
constexpr std::size_t kOutlierEach = 1'000, kLinesOfSource = 300;
// Watched replays: first some of all results, then those whose contents are kept, of few results.
constexpr std::size_t kCountedReplays = 4, kKeptReplays = 256, kKeptResults = 16;
constexpr std::int64_t kKeptWidth = 128;
constexpr std::size_t kMaxEvents = 10'000;
constexpr std::uint64_t kWaitingBytes = std::uint64_t{64} << 20U;  // for the writer
constexpr std::uint64_t kReplayBytes = 512;                        // of one, at most

const std::string& kernel_source() {
  static const std::string kSource = [] {
    std::string text = "#version 450\n";
    for (std::size_t line = 1; line < kLinesOfSource; ++line) {
      text += "  y[gl_GlobalInvocationID.x + " + std::to_string(line) + "] = x[i] * scale;\n";
    }
    return text;
  }();
  return kSource;
}

/// With the code of any shader of the program: some of the same name, the others that of matmul.
std::vector<std::pair<Kernel, KernelInfo>> kernels_of(const ExecutionPlan& plan) {
  std::vector<std::pair<Kernel, KernelInfo>> kernels;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    const auto known = [&](const auto& kernel) { return kernel.first == step.kernel; };
    if (std::any_of(kernels.begin(), kernels.end(), known)) {
      continue;
    }
    const shaders::Shader* own = shaders::find(step.kernel.shader);
    KernelInfo info;
    info.local_size = {64, 1, 1};
    info.push_bytes = 8;
    info.spirv = (own == nullptr ? shaders::find("matmul.f32") : own)->spirv;
    info.pipeline_create_ns = 1'000'000;
    info.shared_bytes = 1'024;
    info.source = kernel_source();
    kernels.emplace_back(step.kernel, info);
  }
  return kernels;
}

/// Every third node, as if passes had looked at it.
std::vector<PassDecision> decisions_of(const ComputeGraph& graph) {
  std::vector<PassDecision> decisions;
  for (std::uint32_t n = 0; n < graph.nodes.size(); n += 3) {
    const bool applied = n % 2 == 0;
    decisions.push_back({applied ? "fuse" : "in_place", applied ? "fused" : "shared", n, applied,
                         applied ? "it is read by one node, which takes its place"
                                 : "its operand is read again by a later node"});
  }
  return decisions;
}

std::shared_ptr<const ExecutionPlan> full_graph(std::size_t nodes) {
  auto plan = std::make_shared<ExecutionPlan>(*synthetic_graph(nodes, "decode"));
  auto graph = std::make_shared<ComputeGraph>(*plan->graph);
  plan->decisions = decisions_of(*graph);
  graph->state_fields = StateLayout()
                            .host("rows", 1)
                            .carried("pos")
                            .carried("token", 7)
                            .derived("kv_len", field("pos") + field("rows"))
                            .fields();
  plan->graph = std::move(graph);
  return plan;
}

/// One run of a program that opens a database.
class Run {
 public:
  Run(const std::filesystem::path& path, const std::string& label,
      std::shared_ptr<const ExecutionPlan> graph)
      : sink_(open_profile(path, info(label), {}, {.ring_bytes = 4 * kWaitingBytes})),
        graph_(std::move(graph)) {
    sink_->device(synthetic_device());
    RecordingRecord recording;
    recording.id = sink_->next_id();
    recording.plan = graph_;
    recording.kernels = kernels_of(*graph_);
    recording_ = recording.id;
    sink_->send(std::move(recording));
    sink_->flush();
    ticks_.resize(graph_->steps.size() + 1);
    state_.resize(graph_->graph->state_fields.size());
  }

  void replay(std::size_t replays) {
    const std::size_t timed_each = (replays + kMaxTimed - 1) / kMaxTimed;
    const std::uint64_t most_ahead =
        std::max<std::uint64_t>(kWaitingBytes / (kReplayBytes + 8 * ticks_.size() / timed_each), 1);
    for (std::size_t r = 0; r < replays; ++r) {
      while (r - sink_->health().replays_committed >= most_ahead) {
        require_running();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (r < kCountedReplays + kKeptReplays) {
        watch(r);
      }
      send(r, r % timed_each == 0);
    }
  }

  /// Every node beside two references; a third of them is off.
  void compare() {
    for (std::uint32_t n = 0; n < graph_->graph->nodes.size(); ++n) {
      for (const char* const reference : {"cpu", "direct"}) {
        ComparisonRecord comparison;
        comparison.recording = recording_;
        comparison.node = n;
        comparison.tensor = result_of(n);
        comparison.name = "node " + std::to_string(n);
        comparison.reference = reference;
        comparison.max_rel = n % 3 == 0 ? 1e-3 : 1e-7;
        comparison.max_abs = comparison.max_rel;
        comparison.rmse = comparison.max_rel / 2;
        comparison.tolerance = 1e-5;
        comparison.pass = n % 3 != 0;
        comparison.first_bad = comparison.pass ? std::nullopt : std::optional<std::uint64_t>(n);
        sink_->send(std::move(comparison));
      }
      settle(n, 1'000);
    }
  }

  void log() {
    const std::size_t events =
        std::clamp<std::size_t>(graph_->graph->nodes.size(), 1'000, kMaxEvents);
    for (std::size_t e = 0; e < events; ++e) {
      EventRecord event;
      event.severity = static_cast<LogLevel>(e % 4);
      event.source = "session";
      event.code = e % 4 == 3 ? "launch_failed" : "slow_launch";
      event.message = "Launch " + std::to_string(e) + " waited for the one before it.";
      event.recording = recording_;
      event.time_ns = static_cast<std::int64_t>(e) * 1'000'000;
      sink_->send(std::move(event));
      settle(e, 1'000);
    }
  }

  void finish() {
    sink_->flush();
    require_running();
    const ProfileHealth health = sink_->health();
    if (health.replays_dropped + health.timings_dropped + health.records_dropped > 0) {
      throw std::runtime_error("The writer of the synthetic capture dropped records.");
    }
  }

 private:
  static RunInfo info(const std::string& label) {
    RunInfo run;
    run.app = "reprise-bench";
    run.label = label;
    return run;
  }

  void require_running() const {
    if (sink_->health().stopped) {
      throw std::runtime_error("The writer of the synthetic capture stopped.");
    }
  }
  /// Records wait in a queue that is no longer than this.
  void settle(std::size_t sent, std::size_t max) {
    if (sent % max == max - 1) {
      sink_->flush();
    }
  }

  std::uint32_t result_of(std::uint32_t node) const {
    return graph_->graph->uses_of(graph_->graph->nodes[node]).back().tensor;
  }

  /// The middle node has a matrix, the others around it a row each.
  void watch(std::size_t r) {
    const bool keeps = r >= kCountedReplays;
    const std::size_t nodes = graph_->graph->nodes.size();
    const std::size_t count = keeps ? std::min(kKeptResults, nodes) : nodes;
    const std::size_t first = keeps ? nodes / 2 - count / 2 : 0;
    TensorsRecord record;
    record.recording = recording_;
    record.sequence = r;
    record.plan = graph_;
    record.contents = keeps;
    record.not_finite = true;
    for (std::size_t n = first; n < first + count; ++n) {
      const auto node = static_cast<std::uint32_t>(n);
      const std::int64_t lines = n == nodes / 2 ? kKeptWidth : 1;
      record.tensors.push_back(
          {result_of(node), node, {{lines, kKeptWidth}, DType::f32}, record.bytes.size(), {}});
      std::vector<float> values(static_cast<std::size_t>(lines * kKeptWidth));
      for (std::size_t v = 0; v < values.size(); ++v) {
        values[v] = std::sin(static_cast<float>(v + r));
      }
      values[0] = r % 64 == 0 ? std::numeric_limits<float>::quiet_NaN() : values[0];
      const auto bytes = std::as_bytes(std::span(values));
      record.bytes.insert(record.bytes.end(), bytes.begin(), bytes.end());
    }
    sink_->tensors(std::move(record));
    sink_->flush();
  }

  void send(std::size_t r, bool timed) {
    constexpr std::uint64_t kBetween = 2'000'000'000;
    ticks_[0] = kBetween * (r + 1);
    const std::uint64_t slow = r % kOutlierEach == kOutlierEach - 1 ? 3 : 1;
    for (std::size_t s = 0; timed && s + 1 < ticks_.size(); ++s) {
      const std::uint64_t ns = synthetic_ns(graph_->graph->nodes[graph_->steps[s].node]);
      ticks_[s + 1] = ticks_[s] + slow * (ns + random_() % (ns / 4));
    }
    if (timed) {
      usual_ns_ = (ticks_.back() - ticks_.front()) / slow;
    }
    state_ = {1, static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(random_() % 32'000),
              static_cast<std::uint32_t>(r + 1)};
    ReplayRecord replay;
    replay.recording = recording_;
    replay.sequence = replay.submission = r;
    replay.submit_time_ns = static_cast<std::int64_t>(ticks_[0]);
    replay.prepare_ns = 900;
    replay.submit_ns = 4'000;
    replay.device_start_ns = static_cast<std::int64_t>(ticks_[0]);
    replay.device_ns = slow * usual_ns_ - random_() % (usual_ns_ / 8 + 1);
    replay.wait_ns = *replay.device_ns + 10'000;
    replay.timing_mode = timed ? TimingMode::node : TimingMode::replay;
    replay.warm_up = r == 0;
    replay.state = state_;
    if (timed) {
      replay.step_ticks = ticks_;
    }
    sink_->replay(replay);
  }

  std::shared_ptr<ProfileSink> sink_;
  std::shared_ptr<const ExecutionPlan> graph_;
  std::uint64_t recording_ = 0;
  std::mt19937_64 random_{1};
  std::vector<std::uint64_t> ticks_;
  std::vector<std::uint32_t> state_;
  std::uint64_t usual_ns_ = 0;
};

}  // namespace

void write_full_capture(const std::filesystem::path& path, std::size_t nodes, std::size_t replays) {
  {
    Run before(path, "before", full_graph(nodes > kLessNodes ? nodes - kLessNodes : nodes));
    before.replay(std::min(kBaseReplays, replays));
    before.finish();
  }
  Run after(path, "after", full_graph(nodes));
  after.replay(replays);
  after.compare();
  after.log();
  after.finish();
}

}  // namespace reprise::bench
