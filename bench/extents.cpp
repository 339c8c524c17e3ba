// What a prompt costs in a graph for every number of rows up to a bucket, beside the same kernels
// over exactly that many rows, and beside a graph that was recorded for that many.
#include <memory>
#include <numeric>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/commands.h"
#include "bench/samples.h"
#include "framework/programs/json_output.h"
#include "samples/llama/forward.h"

namespace reprise::bench {
namespace {

struct ExtentsArguments {
  std::string model, device = "vulkan";
  long long threads = 0, reps = 30, bucket = 64;
  std::vector<long long> rows{1, 8, 32, 64};
};

class Prompts {
 public:
  Prompts(const ExtentsArguments& a, const Device& device)
      : executor_(device, {.timing = TimingMode::replay}),
        file_(GgufFile::open(a.model)),
        model_(llama::load_model(device, file_, a.bucket)),
        state_(device, llama::state_layout(-1, static_cast<std::int32_t>(a.bucket))),
        bucket_(a.bucket),
        tokens_(static_cast<std::size_t>(a.bucket)) {
    std::iota(tokens_.begin(), tokens_.end(), 1);
  }

  CapturedGraph fixed(long long rows) {
    set_rows(rows);
    auto s = executor_.begin_recorded({.name = "fixed", .state = state_});
    return record(s, rows, rows).graph;
  }
  CapturedGraph bucket() {
    set_rows(bucket_);
    auto s = executor_.begin_recorded(
        {.name = "bucket", .state = state_, .extents = {{"rows", bucket_}}});
    return record(s, s.extent("rows"), bucket_).graph;
  }
  /// The kernels of the bucket, their grids known ahead.
  double direct(long long rows) {
    set_rows(rows);
    auto s = executor_.begin({.name = "direct", .state = state_, .extents = {{"rows", bucket_}}});
    const FinishResult result = record(s, s.extent("rows"), rows);
    return note(result.report.device_ns, result.read<std::int32_t>("next")[0]);
  }
  double launch(CapturedGraph& graph, long long rows) {
    set_rows(rows);
    graph.launch();
    return note(graph.last_times().device_ns, graph.read<std::int32_t>("next")[0]);
  }
  std::int32_t last_id() const { return id_; }

 private:
  void set_rows(long long rows) {
    state_.set({{"rows", static_cast<std::int32_t>(rows)}, {"pos", 0}});
  }
  FinishResult record(GraphSession& s, const Extent& extent, long long rows) {
    const Tensor ids =
        s.input("tokens", {extent}, std::span(tokens_).first(static_cast<std::size_t>(rows)));
    const Tensor x = get_rows(s, model_.embedding, ids);
    s.output("next", llama::choose(s, llama::forward(s, model_, x)));
    return s.finish();
  }
  double note(std::optional<std::uint64_t> device_ns, std::int32_t id) {
    if (!device_ns) {
      throw_invalid_argument("The device does not say how long it worked.");
    }
    id_ = id;
    return static_cast<double>(*device_ns) / 1e3;
  }

  GraphExecutor executor_;
  GgufFile file_;
  llama::Model model_;
  StateBlock state_;
  long long bucket_;
  std::vector<std::int32_t> tokens_;
  std::int32_t id_ = 0;
};

/// Prints one JSON object; README.md says what its keys mean.
void print_extents(const ExtentsArguments& a) {
  require_between("--reps", a.reps, 1, kMaxReps);
  require_between("--threads", a.threads, 0, kMaxThreads);
  require_between("--bucket", a.bucket, 1, kMaxTokens);
  const Device device = open_with_threads(a.device, a.threads);
  Prompts prompts(a, device);
  CapturedGraph bucket = prompts.bucket();
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const long long rows : a.rows) {
    require_between("--rows", rows, 1, a.bucket);
    CapturedGraph fixed = prompts.fixed(rows);
    Samples samples;
    for (long long r = 0; r <= a.reps; ++r) {  // the first round warms up
      const double in_bucket = prompts.launch(bucket, rows);
      const std::int32_t id = prompts.last_id();
      const double exactly = prompts.direct(rows);
      if (prompts.last_id() != id) {
        throw_invalid_argument("A prompt of (", rows, ") rows gives the token (", prompts.last_id(),
                               ") directly, but ", id, " in its bucket.");
      }
      const double recorded = prompts.launch(fixed, rows);
      if (r > 0) {
        samples.add("bucket", in_bucket);
        samples.add("direct", exactly);
        samples.add("fixed", recorded);
        samples.add("ratio", in_bucket / exactly);
        samples.add("to_fixed", in_bucket / recorded);
      }
    }
    lines.push_back({{"rows", rows},
                     {"bucket_us", samples.median("bucket")},
                     {"same_kernels_us", samples.median("direct")},
                     {"recorded_for_it_us", samples.median("fixed")},
                     {"to_same_kernels", samples.median("ratio")},
                     {"to_recorded_for_it", samples.median("to_fixed")}});
  }
  const nlohmann::ordered_json json{
      {"device", device.info().name}, {"bucket", a.bucket}, {"pairs", a.reps}, {"rows", lines}};
  programs::print_json(json);
}

}  // namespace

void add_extents(CLI::App& app) {
  const auto a = std::make_shared<ExtentsArguments>();
  CLI::App* extents = app.add_subcommand(
      "extents", "Device time of a prompt in a graph for a bucket of lengths; prints JSON");
  extents->add_option("-m,--model", a->model, "GGUF file")->required();
  extents->add_option("--device", a->device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  extents->add_option("-t,--threads", a->threads, "Threads of the CPU")->capture_default_str();
  extents->add_option("-b,--bucket", a->bucket, "Rows of the bucket")->capture_default_str();
  extents->add_option("--rows", a->rows, "Rows of a prompt")->delimiter(',')->capture_default_str();
  extents->add_option("-r,--reps", a->reps, "Interleaved runs of each")->capture_default_str();
  extents->callback([a] { print_extents(*a); });
}

}  // namespace reprise::bench
