// What does a host step cost, segment by segment against joined?
#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/commands.h"
#include "bench/samples.h"
#include "framework/programs/json_output.h"
#include "reprise/reprise.h"

namespace reprise::bench {
namespace {

struct HostStepsArguments {
  std::string device = "vulkan";
  long long steps = 16, reps = 200;
};

constexpr std::int64_t kElements = 64;

/// A chain of ops with as many host steps that do nothing but copy; with none, the same ops alone.
CapturedGraph record(GraphExecutor& executor, long long ops, bool host_steps, bool joined) {
  auto s = executor.begin_recorded({.name = "host steps"});
  const std::vector<float> ones(kElements, 1);
  const Tensor one = s.input("x", {kElements}, ones);
  Tensor x = one;
  for (long long i = 0; i < ops; ++i) {
    if (host_steps) {
      x = host_step(s, "pass", {x}, {TensorSpec({kElements}, DType::f32)}, [](HostStepCall& call) {
        std::ranges::copy(call.input(0), call.output(0).begin());
      })[0];
    }
    x = add(s, x, one);
  }
  s.output("y", x);
  return s.finish({.joined_host_steps = joined}).graph;
}

double launch_us(CapturedGraph& graph, long long ops) {
  const auto begin = std::chrono::steady_clock::now();
  graph.launch();
  const std::chrono::duration<double, std::micro> wall = std::chrono::steady_clock::now() - begin;
  if (graph.read("y") != std::vector<float>(kElements, static_cast<float>(ops + 1))) {
    throw std::runtime_error("The chain computes something else.");
  }
  return wall.count();
}

void print_host_steps(const HostStepsArguments& a) {
  require_between("--steps", a.steps, 1, 4096);
  require_between("--reps", a.reps, 1, kMaxReps);
  GraphExecutor executor(open_device(a.device), {.timing = TimingMode::off});
  struct Form {
    const char* name;
    CapturedGraph graph;
  } forms[] = {{"none", record(executor, a.steps, false, false)},
               {"segments", record(executor, a.steps, true, false)},
               {"joined", record(executor, a.steps, true, true)}};
  Samples samples;
  for (long long r = 0; r <= a.reps; ++r) {  // in turn; the first round warms up
    for (Form& form : forms) {
      const double us = launch_us(form.graph, a.steps);
      if (r > 0) {
        samples.add(form.name, us);
      }
    }
  }
  nlohmann::ordered_json json{{"device", executor.device().info().name}, {"host_steps", a.steps}};
  for (const Form& form : forms) {
    const double us = samples.median(form.name);
    json[std::string(form.name) + "_launch_us"] = us;
    json[std::string(form.name) + "_us_per_step"] =
        (us - samples.median("none")) / static_cast<double>(a.steps);
  }
  json.erase("none_us_per_step");
  programs::print_json(json);
}

}  // namespace

void add_host_steps(CLI::App& app) {
  const auto a = std::make_shared<HostStepsArguments>();
  CLI::App* host_steps = app.add_subcommand(
      "host-steps", "A launch with host steps, segment by segment and joined; prints JSON");
  host_steps->add_option("--device", a->device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  host_steps->add_option("-s,--steps", a->steps, "Host steps of the graph")->capture_default_str();
  host_steps->add_option("-r,--reps", a->reps, "Launches of each form, in turn")
      ->capture_default_str();
  host_steps->callback([a] { print_host_steps(*a); });
}

}  // namespace reprise::bench
