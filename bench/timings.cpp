// Do the times of single nodes add up to the time of the replay that is not timed inside?
#include <memory>
#include <optional>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/commands.h"
#include "bench/samples.h"
#include "bench/temporary_profile.h"
#include "framework/profile/profile_reader.h"
#include "framework/programs/json_output.h"
#include "reprise/reprise.h"

namespace reprise::bench {
namespace {

struct TimingsArguments {
  long long nodes = 12, size = 256, reps = 30;
  std::string device = "vulkan";
};

/// A chain of products of [size, size] matrices: every node is heavy.
CapturedGraph record_products(GraphExecutor& executor, long long nodes, long long size) {
  const std::vector<float> ones(static_cast<std::size_t>(size * size),
                                1.0F / static_cast<float>(size));
  const Tensor w = executor.device().from_host({size, size}, ones, "w");
  auto s = executor.begin_recorded({.name = "products"});
  Tensor x = s.input("x", {size, size}, ones);
  for (long long i = 0; i < nodes; ++i) {
    x = matmul(s, x, w);
  }
  s.output("y", x);
  return s.finish().graph;
}

/// Prints one JSON object; README.md says what its keys mean.
void print_timings(const TimingsArguments& a) {
  require_between("--nodes", a.nodes, 1, 1'000'000);
  require_between("--size", a.size, 1, 8192);
  require_between("--reps", a.reps, 1, kMaxReps);
  const Device device = open_device(a.device);
  const TemporaryProfile profile;
  Samples samples;
  std::optional<ProfileHealth> health;
  {
    GraphExecutor executor(device, {.profile = profile.path, .run = {}, .log = {}});
    CapturedGraph graph = record_products(executor, a.nodes, a.size);
    for (long long i = 0; i < a.reps; ++i) {
      for (const auto& [mode, key] :
           {std::pair(TimingMode::replay, "plain"), std::pair(TimingMode::node, "node")}) {
        graph.set_timing(mode);
        graph.launch();
        const auto device_ns = graph.last_times().device_ns;
        if (!device_ns) {
          throw std::runtime_error("The device (" + device.info().name + ") cannot time itself.");
        }
        samples.add(key, static_cast<double>(*device_ns));
      }
    }
    health = executor.profile_health();
  }
  const TopNodes top =
      read_top_nodes(profile.path, {.limit = static_cast<std::size_t>(a.nodes) + 1});
  double sum = 0;
  for (const NodeTimes& node : top.nodes) {
    sum += static_cast<double>(node.p50_ns);
  }
  const double bias = static_cast<double>(top.timestamp_bias_ns.value_or(0));
  const double unbiased = sum - bias * static_cast<double>(top.nodes.size());
  nlohmann::ordered_json json{{"device", device.info().name},
                              {"nodes", a.nodes},
                              {"timed_nodes", top.nodes.size()},
                              {"plain_device_ns_p50", samples.median("plain")},
                              {"node_device_ns_p50", samples.median("node")},
                              {"node_p50_sum_ns", sum},
                              {"timestamp_bias_ns", bias},
                              {"unbiased_sum_ratio", unbiased / samples.median("plain")},
                              {"timings_dropped", health->timings_dropped}};
  programs::print_json(json);
}

}  // namespace

void add_timings(CLI::App& app) {
  const auto a = std::make_shared<TimingsArguments>();
  CLI::App* timings = app.add_subcommand(
      "timings", "Node times of a chain of matrix products against the whole replay; prints JSON");
  timings->add_option("--nodes", a->nodes, "Products of the chain")->capture_default_str();
  timings->add_option("--size", a->size, "Rows of the matrices")->capture_default_str();
  timings->add_option("--reps", a->reps, "Replays in each mode")->capture_default_str();
  timings->add_option("--device", a->device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  timings->callback([a] { print_timings(*a); });
}

}  // namespace reprise::bench
