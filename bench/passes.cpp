// What the passes change in a decode step: steps, barriers, memory and time, one pass at a time.
#include <array>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/clock.h"
#include "bench/commands.h"
#include "bench/samples.h"
#include "framework/programs/json_output.h"
#include "reprise/graph/execution_plan.h"
#include "samples/llama/forward.h"

namespace reprise::bench {
namespace {

struct PassesArguments {
  std::string model, device = "vulkan", precision = "exact";
  long long threads = 0, reps = 9, tokens = 32;
};

struct Variant {
  const char* name;
  PassOptions passes;
  FinishResult recorded;
};

std::vector<std::int32_t> decode(CapturedGraph& graph, long long tokens) {
  std::vector<std::int32_t> ids;
  graph.set_state("pos", 0);
  graph.set_state("token", 1);
  for (long long i = 0; i < tokens; ++i) {
    graph.launch();
    ids.push_back(graph.read<std::int32_t>("next")[0]);
  }
  return ids;
}

/// Prints one JSON object; README.md says what its keys mean.
void print_passes(const PassesArguments& a) {
  require_between("--reps", a.reps, 1, kMaxReps);
  require_between("--threads", a.threads, 0, kMaxThreads);
  require_between("--tokens", a.tokens, 1, kMaxTokens);
  const Device device = open_with_threads(a.device, a.threads);
  GraphExecutor executor(
      device, {.timing = TimingMode::off, .precision = precision_of(a.precision).value()});
  const auto file = GgufFile::open(a.model);
  const llama::Model model = llama::load_model(device, file, a.tokens);
  const StateBlock state(device, llama::state_layout(-1, static_cast<std::int32_t>(a.tokens)));
  std::array<Variant, 7> variants{{{"off", PassOptions::none(), {}},
                                   {"dead_nodes", {.dead_nodes = true}, {}},
                                   {"reorder", {.reorder = true}, {}},
                                   {"in_place", {.in_place = true}, {}},
                                   {"fuse", {.fuse = true}, {}},
                                   {"exact", PassOptions::exact(), {}},
                                   {"approximate", PassOptions::approximate(), {}}}};
  for (Variant& variant : variants) {
    auto session = executor.begin_recorded({.name = variant.name, .state = state});
    const Tensor x = get_rows(session, model.embedding, session.state("token"));
    session.output("next", llama::choose(session, llama::forward(session, model, x)));
    variant.recorded = session.finish({.passes = variant.passes, .run = false});
  }
  Samples samples;
  std::vector<std::int32_t> ids;
  for (long long r = 0; r <= a.reps; ++r) {  // the first round warms up
    double off_us = 0;
    for (Variant& variant : variants) {
      const double begin = now_us();
      const std::vector<std::int32_t> got = decode(variant.recorded.graph, a.tokens);
      const double us = (now_us() - begin) / static_cast<double>(a.tokens);
      ids = ids.empty() ? got : ids;
      if (got != ids && !variant.passes.fuse_approximate) {
        throw_invalid_argument("The passes (", variant.name, ") give other tokens than none do.");
      }
      off_us = &variant == variants.begin() ? us : off_us;
      if (r > 0) {
        samples.add(variant.name, us);
        samples.add(std::string(variant.name) + "/off", us / off_us);
      }
    }
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Variant& variant : variants) {
    const FinishReport& report = variant.recorded.report;
    rows.push_back({{"passes", variant.name},
                    {"fused", variant.recorded.graph.plan().fused.size()},
                    {"steps", report.steps},
                    {"barriers", report.barriers},
                    {"arena_bytes", report.arena_bytes},
                    {"live_peak_bytes", report.live_peak_bytes},
                    {"plan_us", static_cast<double>(report.plan_ns) / 1e3},
                    {"us_per_token", samples.median(variant.name)},
                    {"to_off", samples.median(std::string(variant.name) + "/off")}});
  }
  const nlohmann::ordered_json json{{"device", device.info().name},
                                    {"precision", a.precision},
                                    {"tokens", a.tokens},
                                    {"rows", rows}};
  programs::print_json(json);
}

}  // namespace

void add_passes(CLI::App& app) {
  const auto a = std::make_shared<PassesArguments>();
  CLI::App* passes = app.add_subcommand(
      "passes", "Steps, barriers, memory and time of a decode step by pass; prints JSON");
  passes->add_option("-m,--model", a->model, "GGUF file")->required();
  passes->add_option("--device", a->device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  passes->add_option("-t,--threads", a->threads, "Threads of the CPU")->capture_default_str();
  passes->add_option("--precision", a->precision, "exact or fast")
      ->check(CLI::IsMember({"exact", "fast"}))
      ->capture_default_str();
  passes->add_option("-n,--tokens", a->tokens, "Tokens of a run")->capture_default_str();
  passes->add_option("-r,--reps", a->reps, "Interleaved runs of each")->capture_default_str();
  passes->callback([a] { print_passes(*a); });
}

}  // namespace reprise::bench
