// What a budget of experts costs a run that misses none of them.
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

struct ExpertsArguments {
  std::string device = "vulkan";
  long long threads = 0, reps = 50, layers = 8, experts = 16, used = 2, cells = 8, dim = 256,
            wide = 512;
};

/// A token through layers of experts, each behind a norm and a dense product.
struct Model {
  explicit Model(const Device& device, const ExpertsArguments& a)
      : sizes(a), store(a.experts), x(device.normal({1, a.dim}, DType::f32, 1)) {
    std::uint64_t seed = 2;
    for (long long l = 0; l < a.layers; ++l) {
      names.push_back("layer." + std::to_string(l));
      routers.push_back(device.normal({a.experts, a.dim}, DType::f32, seed++));
      dense.push_back(device.normal({a.dim, a.dim}, DType::f32, seed++));
      const auto add = [&](const char* projection, std::int64_t rows, std::int64_t columns) {
        const Shape shape{a.experts, rows, columns};
        store.add(names.back(), projection, shape,
                  device.to_host<float>(device.normal(shape, DType::f32, seed++)));
      };
      add("gate", a.wide, a.dim);
      add("up", a.wide, a.dim);
      add("down", a.dim, a.wide);
    }
  }

  void record(GraphSession& s) const {
    Tensor y = s.input("x", {1, sizes.dim});
    for (std::size_t l = 0; l < names.size(); ++l) {
      const Tensor h = rms_norm(s, matmul(s, y, dense[l]), {}, {.eps = 1e-5F});
      const RoutedExperts routed =
          route_top_k(s, matmul(s, h, routers[l]), {.k = static_cast<std::int32_t>(sizes.used)});
      const Tensor row = reshape(s, h, {1, 1, sizes.dim});
      const Tensor products = s.experts(names[l], routed.ids, [&](const PlacedExperts& placed) {
        const Tensor gate = placed.matmul(s, row, "gate");
        const Tensor up = placed.matmul(s, row, "up");
        return placed.matmul(s, silu_mul(s, gate, up), "down");
      });
      y = rms_norm(s, add(s, h, combine_experts(s, products, routed.weights)), {}, {.eps = 1e-5F});
    }
    s.output("y", y);
  }

  ExecutableGraph graph(GraphExecutor& executor, long long cells) const {
    std::uint64_t one_each = 0;
    for (const ExpertStore::Layer& layer : store.layers()) {
      one_each += layer.expert_bytes();
    }
    return ExecutableGraph(
        executor, [this](GraphSession& s) { record(s); },
        {.name = "experts",
         .experts = {.store = store,
                     .options = {.budget_bytes = cells == sizes.experts
                                                     ? 0
                                                     : one_each * static_cast<std::uint64_t>(cells),
                                 .refresh_interval = 0}}});
  }

  ExpertsArguments sizes;
  ExpertStore store;
  Tensor x;
  std::vector<std::string> names;
  std::vector<Tensor> routers, dense;
};

/// Prints one JSON object; README.md says what its keys mean.
void print_experts(const ExpertsArguments& a) {
  require_between("--reps", a.reps, 1, kMaxReps);
  require_between("--threads", a.threads, 0, kMaxThreads);
  require_between("--experts", a.experts, 2, 1024);
  require_between("--used", a.used, 1, a.experts);
  require_between("--cells", a.cells, a.used, a.experts - 1);
  const Device device = open_with_threads(a.device, a.threads);
  GraphExecutor executor(device);
  const Model model(device, a);
  ExecutableGraph all = model.graph(executor, a.experts), some = model.graph(executor, a.cells);
  const std::vector<float> x = device.to_host<float>(model.x);
  const auto run = [&](ExecutableGraph& graph) {
    const double begin = now_us();
    std::vector<float> y = graph.run({{"x", x}}).read("y");
    return std::pair(now_us() - begin, std::move(y));
  };
  Samples samples;
  const std::vector<float> expected = run(all).second;
  for (int warm = 0; warm < 3; ++warm) {  // moves what the token is routed to
    (void)run(all);
    if (run(some).second != expected) {
      throw_invalid_argument("A budget of (", a.cells,
                             ") cells gives other results than one of all experts.");
    }
  }
  (void)some.take_expert_stats();
  for (long long r = 0; r < a.reps; ++r) {
    samples.add("all", run(all).first);
    samples.add("some", run(some).first);
  }
  for (const ExpertStats& stats : some.take_expert_stats()) {
    if (stats.misses != 0) {
      throw_invalid_argument("The layer '", stats.layer, "' missed (", stats.misses,
                             ") experts of a token that repeats.");
    }
  }
  const double all_us = samples.median("all"), some_us = samples.median("some");
  const nlohmann::ordered_json json{{"device", device.info().name},
                                    {"layers", a.layers},
                                    {"experts", a.experts},
                                    {"used", a.used},
                                    {"cells", a.cells},
                                    {"all_us", all_us},
                                    {"some_us", some_us},
                                    {"some_to_all", some_us / all_us}};
  programs::print_json(json);
}

}  // namespace

void add_experts(CLI::App& app) {
  const auto a = std::make_shared<ExpertsArguments>();
  CLI::App* experts = app.add_subcommand(
      "experts", "Runs without a miss, with a cell for every expert and with fewer; prints JSON");
  experts->add_option("--device", a->device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  experts->add_option("-t,--threads", a->threads, "Threads of the CPU")->capture_default_str();
  experts->add_option("--reps", a->reps, "Runs of each")->capture_default_str();
  experts->add_option("--layers", a->layers, "Layers of experts")->capture_default_str();
  experts->add_option("--experts", a->experts, "Experts of a layer")->capture_default_str();
  experts->add_option("--used", a->used, "Experts of a token")->capture_default_str();
  experts->add_option("--cells", a->cells, "Cells of a layer, where they are fewer")
      ->capture_default_str();
  experts->add_option("--dim", a->dim, "Columns of a token")->capture_default_str();
  experts->add_option("--wide", a->wide, "Columns inside of an expert")->capture_default_str();
  experts->callback([a] { print_experts(*a); });
}

}  // namespace reprise::bench
