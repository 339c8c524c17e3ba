// What does recording and replaying an op cost the host, against plain Vulkan?
#include <chrono>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/commands.h"
#include "bench/heap_calls.h"
#include "bench/raw_vulkan.h"
#include "bench/samples.h"
#include "bench/temporary_profile.h"
#include "framework/programs/json_output.h"
#include "reprise/reprise.h"

namespace reprise::bench {
namespace {

struct DispatchArguments {
  long long nodes = 1000;
  long long reps = 20;
  std::string device = "vulkan";
};

constexpr long long kMaxNodes = 1 << 24;  // sums of ones above are not exact in f32
constexpr int kWarmUps = 2;               // compile pipelines, grow pools and arenas

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// Nanoseconds that `f` takes.
template <class F>
double time_of(F&& f) {
  const std::int64_t begin = now_ns();
  f();
  return static_cast<double>(now_ns() - begin);
}

class DispatchBench {
 public:
  DispatchBench(const Device& device, std::uint32_t nodes)
      : nodes_(nodes),
        device_(device),
        executor_(device),
        profiled_executor_(device, {.profile = profile_.path, .run = {}, .log = {}}),
        ones_(device.from_host({RawChain::kElements}, elements(1), "ones")),
        raw_(device.info(), nodes, device.backend().traits().workgroup_size),
        plain_(record(executor_).graph),
        profiled_(record(profiled_executor_).graph),
        node_(record(profiled_executor_).graph) {
    node_.set_timing(TimingMode::node);
  }

  /// Plain Vulkan and sessions in turn, so that both see the same machine.
  void round() {
    for (std::size_t i = 0; i < kRawBindings.size(); ++i) {
      if (raw_.supports(static_cast<RawBinding>(i))) {
        round_raw(static_cast<RawBinding>(i));
      }
      round_recorded();
      round_direct();
      round_launches();
    }
  }
  void forget() { samples_.clear(); }
  nlohmann::ordered_json report() const;

 private:
  static std::vector<float> elements(float value) {
    return std::vector<float>(static_cast<std::size_t>(RawChain::kElements), value);
  }
  void chain(GraphSession& s) const {
    Tensor x = s.input("x", {RawChain::kElements}, elements(0));
    for (std::uint32_t i = 0; i < nodes_; ++i) {
      x = add(s, x, ones_);
    }
    s.output("y", x);
  }
  FinishResult record(GraphExecutor& executor) const {
    GraphSession session = executor.begin_recorded({.name = "dispatch"});
    chain(session);
    return session.finish();
  }
  /// Every element went through every op once.
  void require_right(std::string_view what, const std::vector<float>& values) const {
    for (const float value : values) {
      if (value != static_cast<float>(nodes_)) {
        throw std::runtime_error("The chain of " + std::to_string(nodes_) + " ops computes (" +
                                 std::to_string(value) + ") " + std::string(what) +
                                 ", not the number of its ops.");
      }
    }
  }
  void total(const std::string& key, double value) { samples_.add(key, value); }
  void per_op(const std::string& key, double value) {
    samples_.add(key + "_per_op", value / static_cast<double>(nodes_));
  }
  void round_raw(RawBinding binding);
  void round_recorded();
  void round_direct();
  /// Graphs that differ in nothing but the database, in turn, as a decode loop launches them.
  void round_launches();
  void launch(const std::string& prefix, CapturedGraph& graph);
  nlohmann::ordered_json raw_report(std::string_view binding) const;

  std::uint32_t nodes_;
  Device device_;
  TemporaryProfile profile_;
  GraphExecutor executor_, profiled_executor_;
  Tensor ones_;
  RawChain raw_;
  CapturedGraph plain_, profiled_, node_;
  Samples samples_;
};

void DispatchBench::round_raw(RawBinding binding) {
  const std::string prefix = std::string(kRawBindings[static_cast<std::size_t>(binding)]) + " ";
  const auto run = [&] {
    const double submit = time_of([&] { raw_.submit(binding); });
    const double wait = time_of([&] { raw_.wait(); });
    total(prefix + "submit_ns", submit);
    return submit + wait;
  };
  const double reset = time_of([&] { raw_.reset(binding); });
  const double recorded = time_of([&] { raw_.record(binding); });
  const double first = run();
  per_op(prefix + "record_ns", recorded);
  per_op(prefix + "total_ns", reset + recorded + first);
  require_right("in plain Vulkan", raw_.result());
  per_op(prefix + "replay_ns", run());
}

void DispatchBench::round_recorded() {
  const std::uint64_t heap = heap_calls();
  const std::int64_t begin = now_ns();
  FinishResult result = record(executor_);
  const auto wall = static_cast<double>(now_ns() - begin);
  per_op("record_heap_calls", static_cast<double>(heap_calls() - heap));
  require_right("recorded", result.read("y"));
  const FinishReport& r = result.report;
  const auto ns = [](std::uint64_t value) { return static_cast<double>(value); };
  per_op("capture_ns", ns(r.record_ns));
  per_op("plan_ns", ns(r.plan_ns));
  per_op("encode_ns", ns(r.encode_ns));
  per_op("record_ns", ns(r.record_ns + r.plan_ns + r.encode_ns));
  per_op("record_wall_ns", wall - ns(r.submit_ns + r.wait_ns));
}

void DispatchBench::round_launches() {
  constexpr int kLaunches = 4;
  for (int i = 0; i < kLaunches; ++i) {
    launch("", plain_);
    launch("profiled_", profiled_);
  }
  launch("node_", node_);
}

void DispatchBench::launch(const std::string& prefix, CapturedGraph& graph) {
  const std::uint64_t heap = heap_calls();
  const double wall = time_of([&] { graph.launch(); });
  total(prefix + "launch_heap_calls", static_cast<double>(heap_calls() - heap));
  total(prefix + "submit_ns", wall - static_cast<double>(graph.last_times().wait_ns));
  per_op(prefix + "replay_ns", wall);
  require_right("replayed", graph.read("y"));
}

void DispatchBench::round_direct() {
  const std::uint64_t heap = heap_calls();
  FinishResult result;
  const double wall = time_of([&] {
    GraphSession session = executor_.begin({.name = "dispatch"});
    chain(session);
    result = session.finish();
  });
  per_op("direct_heap_calls", static_cast<double>(heap_calls() - heap));
  require_right("directly", result.read("y"));
  per_op("direct_ns", static_cast<double>(result.report.record_ns + result.report.encode_ns));
  per_op("direct_total_ns", wall);
}

nlohmann::ordered_json DispatchBench::raw_report(std::string_view binding) const {
  nlohmann::ordered_json json;
  for (const char* key : {"record_ns_per_op", "replay_ns_per_op", "total_ns_per_op", "submit_ns"}) {
    json[key] = samples_.median(std::string(binding) + " " + key);
  }
  return json;
}

nlohmann::ordered_json DispatchBench::report() const {
  nlohmann::ordered_json json;
  const auto raw = [&](const char* key) { return samples_.median("sets " + std::string(key)); };
  json["nodes"] = nodes_;
  for (const char* key : {"record_ns_per_op", "replay_ns_per_op", "total_ns_per_op", "submit_ns"}) {
    json["raw_" + std::string(key)] = raw(key);
  }
  for (const char* key :
       {"record_ns_per_op", "capture_ns_per_op", "plan_ns_per_op", "encode_ns_per_op",
        "record_wall_ns_per_op", "replay_ns_per_op", "profiled_replay_ns_per_op",
        "node_replay_ns_per_op", "direct_ns_per_op", "direct_total_ns_per_op", "submit_ns",
        "profiled_submit_ns", "node_submit_ns", "record_heap_calls_per_op",
        "direct_heap_calls_per_op", "launch_heap_calls", "profiled_launch_heap_calls"}) {
    json[key] = samples_.median(key);
  }
  for (const char* kind : {"record", "replay", "direct", "direct_total"}) {
    const std::string key = std::string(kind) + "_ns_per_op";
    const bool total = std::string_view(kind) == "direct_total";
    const char* against = total                                ? "total_ns_per_op"
                          : std::string_view(kind) == "replay" ? "replay_ns_per_op"
                                                               : "record_ns_per_op";
    json[std::string(kind) + "_ratio"] = samples_.median(key) / raw(against);
  }
  for (const std::string_view binding : kRawBindings) {
    if (samples_.has(std::string(binding) + " submit_ns")) {
      json["raw_bindings"][binding] = raw_report(binding);
    }
  }
  const DeviceInfo& info = device_.info();
  const char* workers = std::getenv("LP_NUM_THREADS");
  json["environment"] = {{"device", info.name},
                         {"driver", info.driver_name + " " + info.driver_info},
                         {"LP_NUM_THREADS", nullptr}};
  if (workers != nullptr) {
    json["environment"]["LP_NUM_THREADS"] = workers;
  }
  return json;
}

/// The heap keeps what is freed, for both sides: whether a reset gives pages back to the system and
/// the next recording faults them in again depends on who allocated last.
void keep_freed_memory() {
  constexpr int kNever = 1 << 30;
  mallopt(M_TRIM_THRESHOLD, kNever);
  mallopt(M_MMAP_THRESHOLD, kNever);
}

/// Prints one JSON object; README.md says what its keys mean. Throws if any result is wrong.
void print_dispatch(const DispatchArguments& arguments) {
  require_between("--nodes", arguments.nodes, 1, kMaxNodes);
  require_between("--reps", arguments.reps, 1, kMaxReps);
  keep_freed_memory();
  const Device device = open_device(arguments.device);
  if (device.info().backend != "vulkan") {
    throw std::runtime_error("The baseline is plain Vulkan; it does not run on the device (" +
                             arguments.device + ").");
  }
  DispatchBench bench(device, static_cast<std::uint32_t>(arguments.nodes));
  for (int i = 0; i < kWarmUps; ++i) {
    bench.round();
  }
  bench.forget();
  for (long long i = 0; i < arguments.reps; ++i) {
    bench.round();
  }
  nlohmann::ordered_json json = bench.report();
  json["reps"] = arguments.reps;
  programs::print_json(json);
}

}  // namespace

void add_dispatch(CLI::App& app) {
  const auto a = std::make_shared<DispatchArguments>();
  CLI::App* dispatch = app.add_subcommand(
      "dispatch", "Recording and replaying a chain of tiny ops, against plain Vulkan; prints JSON");
  dispatch->add_option("--nodes", a->nodes, "Ops of the chain")->capture_default_str();
  dispatch->add_option("--reps", a->reps, "Measured repetitions")->capture_default_str();
  dispatch->add_option("--device", a->device, "vulkan or vulkan:<number>")->capture_default_str();
  dispatch->callback([a] { print_dispatch(*a); });
}

}  // namespace reprise::bench
