// What an iteration costs the host, and how long it takes, with one and with many per submission.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/clock.h"
#include "bench/commands.h"
#include "bench/samples.h"
#include "framework/programs/json_output.h"
#include "samples/llama/forward.h"

namespace reprise::bench {
namespace {

struct IterationsArguments {
  std::string model, device = "vulkan", timing = "replay";
  long long threads = 0, reps = 9, tokens = 64;
  std::vector<long long> iterations{1, 8, 64};
};

/// `tokens` steps, some per launch. Host time is that of the launches and of taking their results,
/// less the wait for the device.
struct Decode {
  double host_us = 0, all_us = 0;
  std::vector<std::int32_t> ids;
};

Decode decode(CapturedGraph& graph, long long tokens, long long per_launch) {
  Decode run;
  graph.set_state("pos", 0);
  graph.set_state("token", 1);
  const double begin = now_us();
  double waited = 0;
  for (long long left = tokens; left > 0; left -= per_launch) {
    const Ticket ticket =
        graph.launch_async({.iterations = static_cast<std::uint32_t>(std::min(left, per_launch))});
    const std::uint32_t ran = ticket.iterations();
    for (std::uint32_t i = 0; i < ran; ++i) {
      std::int32_t id = 0;
      const OutputView view = ticket.output("next", i);
      std::memcpy(&id, view.bytes.data(), sizeof(id));
      run.ids.push_back(id);
    }
    waited += static_cast<double>(ticket.times().wait_ns) / 1e3;
  }
  run.all_us = now_us() - begin;
  run.host_us = run.all_us - waited;
  return run;
}

/// Prints one JSON object; README.md says what its keys mean.
void print_iterations(const IterationsArguments& a) {
  require_between("--reps", a.reps, 1, kMaxReps);
  require_between("--threads", a.threads, 0, kMaxThreads);
  require_between("--tokens", a.tokens, 1, kMaxTokens);
  long long max = 1;
  for (const long long k : a.iterations) {
    require_between("--iterations", k, 1, kMaxIterations);
    max = std::max(max, k);
  }
  const Device device = open_with_threads(a.device, a.threads);
  GraphExecutor executor(device, {.timing = *timing_mode_of(a.timing)});
  const auto file = GgufFile::open(a.model);
  const llama::Model model = llama::load_model(device, file, a.tokens);
  const StateBlock state(device, llama::state_layout(-1, static_cast<std::int32_t>(a.tokens)));
  auto session = executor.begin_recorded(
      {.name = "decode", .state = state, .max_iterations = static_cast<std::uint32_t>(max)});
  const Tensor x = get_rows(session, model.embedding, session.state("token"));
  session.output("next", llama::choose(session, llama::forward(session, model, x)));
  FinishResult recorded = session.finish({.run = false});
  Samples samples;
  std::vector<std::int32_t> ids;
  for (long long r = 0; r <= a.reps; ++r) {  // the first round encodes what later ones reuse
    for (const long long k : a.iterations) {
      const Decode run = decode(recorded.graph, a.tokens, k);
      ids = ids.empty() ? run.ids : ids;
      if (run.ids != ids) {
        throw_invalid_argument("(", k, ") iterations per submission give other tokens than ",
                               a.iterations.front(), " do.");
      }
      if (r > 0) {
        const auto per_token = static_cast<double>(a.tokens);
        samples.add("host" + std::to_string(k), run.host_us / per_token);
        samples.add("all" + std::to_string(k), run.all_us / per_token);
      }
    }
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const long long k : a.iterations) {
    rows.push_back({{"iterations_per_submit", k},
                    {"host_us_per_iteration", samples.median("host" + std::to_string(k))},
                    {"us_per_iteration", samples.median("all" + std::to_string(k))}});
  }
  const nlohmann::ordered_json json{{"device", device.info().name},
                                    {"timing", a.timing},
                                    {"steps", recorded.report.steps},
                                    {"barriers", recorded.report.barriers},
                                    {"tokens", a.tokens},
                                    {"rows", rows}};
  programs::print_json(json);
}

}  // namespace

void add_iterations(CLI::App& app) {
  const auto a = std::make_shared<IterationsArguments>();
  CLI::App* iterations = app.add_subcommand(
      "iterations", "Host time of a decode step by iterations per submission; prints JSON");
  iterations->add_option("-m,--model", a->model, "GGUF file")->required();
  iterations->add_option("--device", a->device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  iterations->add_option("-t,--threads", a->threads, "Threads of the CPU")->capture_default_str();
  iterations->add_option("-k,--iterations", a->iterations, "Per submission")
      ->delimiter(',')
      ->capture_default_str();
  iterations->add_option("-n,--tokens", a->tokens, "Tokens of a run")->capture_default_str();
  iterations->add_option("--timing", a->timing, "off, replay or node")
      ->check(CLI::IsMember({"off", "replay", "node"}))
      ->capture_default_str();
  iterations->add_option("-r,--reps", a->reps, "Interleaved runs of each")->capture_default_str();
  iterations->callback([a] { print_iterations(*a); });
}

}  // namespace reprise::bench
