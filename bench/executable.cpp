// What a run of an executable graph costs beside a bare launch of the same pass, and what running
// ahead gains.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/clock.h"
#include "bench/commands.h"
#include "bench/samples.h"
#include "framework/programs/json_output.h"
#include "reprise/reprise.h"

namespace reprise::bench {
namespace {

struct ExecutableArguments {
  std::string device = "vulkan";
  long long threads = 0, reps = 15, runs = 200, width = 64, layers = 8, slots = 4;
};

/// A chain of products; `of` makes weights and the input.
template <class Weight>
void record(GraphSession& s, const ExecutableArguments& a, const Tensor& input,
            const Weight& weight) {
  Tensor x = input;
  for (long long i = 0; i < a.layers; ++i) {
    x = rms_norm(s, matmul(s, x, weight(i)), {}, {.eps = 1e-5F});
  }
  s.output("y", x);
}

void print_executable(const ExecutableArguments& a) {
  require_between("--reps", a.reps, 1, kMaxReps);
  require_between("--threads", a.threads, 0, kMaxThreads);
  require_between("--runs", a.runs, 1, kMaxReps);
  require_between("--width", a.width, 1, kMaxTokens);
  require_between("--layers", a.layers, 1, kMaxReps);
  require_between("--slots", a.slots, 1, 64);
  const Device device = open_with_threads(a.device, a.threads);
  GraphExecutor executor(device, {.timing = TimingMode::off});
  const auto slots = static_cast<std::size_t>(a.slots);
  const ParamStore params(device);
  const Shape square{a.width, a.width};
  const auto weight_name = [](long long i) { return "w" + std::to_string(i); };
  ExecutableGraph graph(executor,
                        [&](GraphSession& s) {
                          record(s, a, s.input("x", {1, a.width}),
                                 [&](long long i) { return s.param(weight_name(i), square); });
                        },
                        {.params = params, .slots = slots});
  for (long long i = 0; i < a.layers; ++i) {
    const Tensor random = device.normal(square, DType::f32, static_cast<std::uint64_t>(i));
    graph.set_param(weight_name(i), device.to_host(random), DType::f32);
  }
  std::vector<float> x(static_cast<std::size_t>(a.width), 1);
  auto session = executor.begin_recorded({.name = "bare"});
  record(session, a, session.input("x", {1, a.width}, x),
         [&](long long i) { return params.find(weight_name(i)); });
  CapturedGraph bare = session.finish({.slots = slots, .run = false}).graph;

  const InputSlot slot = graph.input_slot("x");
  const std::vector<std::vector<NamedInput>> inputs(static_cast<std::size_t>(a.runs), {{"x", x}});
  std::vector<float> expected, got;
  const auto per_run = [&](const auto& run) {
    const double begin = now_us();
    for (long long i = 0; i < a.runs; ++i) {
      run();
    }
    return (now_us() - begin) / static_cast<double>(a.runs);
  };
  Samples samples;
  for (long long r = 0; r <= a.reps; ++r) {  // the first round encodes what later ones reuse
    if (r == 1) {
      samples.clear();
    }
    samples.add("bare", per_run([&] {
                  bare.set_input("x", x);
                  bare.launch();
                  expected = bare.read("y");
                }));
    samples.add("slot", per_run([&] {
                  PreparedRun run = graph.prepare();
                  run.write(slot, std::as_bytes(std::span(x)));
                  got = run.run().read("y");
                }));
    samples.add("name", per_run([&] { got = graph.run({{"x", x}}).read("y"); }));
    const double begin = now_us();
    graph.run_pipelined(inputs, [&](std::size_t, const Ticket& result) { got = result.read("y"); });
    samples.add("pipelined", (now_us() - begin) / static_cast<double>(a.runs));
    if (got != expected) {
      throw_invalid_argument(
          "The executable graph gives other values than a launch of the same pass.");
    }
  }
  const auto ratio = [&](const char* of, const char* to) {
    return samples.median(of) / samples.median(to);
  };
  const nlohmann::ordered_json json{{"device", device.info().name},
                                    {"width", a.width},
                                    {"layers", a.layers},
                                    {"slots", a.slots},
                                    {"bare_us_per_run", samples.median("bare")},
                                    {"by_slot_us_per_run", samples.median("slot")},
                                    {"by_name_us_per_run", samples.median("name")},
                                    {"pipelined_us_per_run", samples.median("pipelined")},
                                    {"by_slot_to_bare", ratio("slot", "bare")},
                                    {"by_name_to_bare", ratio("name", "bare")},
                                    {"pipelined_to_serial", ratio("pipelined", "name")}};
  programs::print_json(json);
}

}  // namespace

void add_executable(CLI::App& app) {
  const auto a = std::make_shared<ExecutableArguments>();
  CLI::App* executable = app.add_subcommand(
      "executable", "A run of an executable graph beside a bare launch; prints JSON");
  executable->add_option("--device", a->device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  executable->add_option("-t,--threads", a->threads, "Threads of the CPU")->capture_default_str();
  executable->add_option("--width", a->width, "Of a row and its products")->capture_default_str();
  executable->add_option("--layers", a->layers, "Products of a run")->capture_default_str();
  executable->add_option("--slots", a->slots, "Runs in flight")->capture_default_str();
  executable->add_option("-n,--runs", a->runs, "Of a sample")->capture_default_str();
  executable->add_option("-r,--reps", a->reps, "Interleaved samples of each")
      ->capture_default_str();
  executable->callback([a] { print_executable(*a); });
}

}  // namespace reprise::bench
