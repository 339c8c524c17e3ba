// A small mixture of experts on a device that has room for a quarter of them: the weights of the
// others stay in memory of the host and move into a cell when a router asks for them.
#include <cmath>
#include <cstdio>

#include "reprise/core/printable.h"
#include "reprise/reprise.h"

using reprise::DType, reprise::GraphSession, reprise::PlacedExperts, reprise::Tensor;

namespace {

constexpr std::int64_t kLayers = 4, kExperts = 16, kUsed = 2, kDim = 64, kWide = 128;
constexpr int kRuns = 200;

std::string layer_name(std::int64_t layer) { return "layer." + std::to_string(layer); }

/// Weights that a real model would have in its file, made by the device's random numbers.
std::vector<float> weights(const reprise::Device& device, std::uint64_t seed,
                           const reprise::Shape& shape) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.back()));
  const Tensor tensor = device.normal(shape, DType::f32, seed, 0, scale);
  const std::vector<std::byte> bytes = device.to_host(tensor);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

struct Model {
  explicit Model(const reprise::Device& device) {
    for (std::int64_t l = 0; l < kLayers; ++l) {
      const auto seed = static_cast<std::uint64_t>(l) * 4;
      routers.push_back(device.normal({kExperts, kDim}, DType::f32, seed, 0, 1, "router"));
      const std::string name = layer_name(l);
      for (const char* projection : {"gate", "up"}) {
        experts.add(
            name, projection, {kExperts, kWide, kDim},
            weights(device, seed + (projection[0] == 'g' ? 1 : 2), {kExperts, kWide, kDim}));
      }
      experts.add(name, "down", {kExperts, kDim, kWide},
                  weights(device, seed + 3, {kExperts, kDim, kWide}));
    }
  }

  void operator()(GraphSession& s) const {
    Tensor x = s.input("x", {1, kDim});
    for (std::int64_t l = 0; l < kLayers; ++l) {
      const auto scope = s.scope("layer", static_cast<std::int32_t>(l));
      const Tensor h = rms_norm(s, x, {}, {.eps = 1e-5F});
      const auto routed = route_top_k(s, matmul(s, h, routers[static_cast<std::size_t>(l)]),
                                      {.k = static_cast<std::int32_t>(kUsed)});
      const Tensor row = reshape(s, h, {1, 1, kDim});
      const Tensor y = s.experts(layer_name(l), routed.ids, [&](const PlacedExperts& placed) {
        return placed.matmul(
            s, silu_mul(s, placed.matmul(s, row, "gate"), placed.matmul(s, row, "up")), "down");
      });
      x = add(s, x, combine_experts(s, y, routed.weights));
    }
    s.output("y", x);
  }

  std::vector<Tensor> routers;
  reprise::ExpertStore experts{kExperts};
};

}  // namespace

int main(int argc, char** argv) try {
  const auto device = reprise::open_device(argc > 1 ? argv[1] : "auto");
  reprise::GraphExecutor executor(device, {.profile = argc > 2 ? argv[2] : ""});
  const Model model(device);
  std::uint64_t all_bytes = 0;
  for (const auto& layer : model.experts.layers()) {
    all_bytes += layer.expert_bytes() * kExperts;
  }
  const auto graph_of = [&](std::uint64_t budget, reprise::ExpertMiss misses) {
    reprise::ExpertSetup setup{.store = model.experts};
    setup.options = {.budget_bytes = budget, .misses = misses, .refresh_interval = 16};
    setup.cpu = reprise::open_device("cpu");
    return reprise::ExecutableGraph(executor, std::cref(model), {.name = "moe", .experts = setup});
  };
  auto all = graph_of(0, reprise::ExpertMiss::upload);
  auto quarter = graph_of(all_bytes / 4, reprise::ExpertMiss::upload);
  auto on_cpu = graph_of(all_bytes / 4, reprise::ExpertMiss::cpu);

  std::vector<float> x(kDim, 0.1F), y = x, z = x;
  bool equal = true;
  double worst = 0;
  for (int run = 0; run < kRuns; ++run) {
    x[static_cast<std::size_t>(run) % kDim] += 0.25F;
    y = all.run({{"x", x}}).read("y");
    equal = equal && y == quarter.run({{"x", x}}).read("y");
    z = on_cpu.run({{"x", x}}).read("y");
    for (std::size_t i = 0; i < y.size(); ++i) {
      worst = std::max(worst, static_cast<double>(std::abs(y[i] - z[i])));
    }
  }
  std::printf("%lld layers of %lld experts, %.1f MB; cells for %lld of them in each, %d runs\n",
              static_cast<long long>(kLayers), static_cast<long long>(kExperts),
              static_cast<double>(all_bytes) / 1e6, static_cast<long long>(kExperts / 4), kRuns);
  std::printf("results with uploaded misses: %s; with misses on the CPU: %s\n",
              equal ? "equal bit for bit" : "different",
              worst < 1e-3 ? "equal within rounding" : "different");
  for (const auto& [name, graph] : {std::pair{"upload", &quarter}, std::pair{"cpu", &on_cpu}}) {
    std::printf("%-8s %-10s %6s %7s %8s %9s\n", name, "layer", "hits", "misses", "on host",
                "MB moved");
    for (const reprise::ExpertStats& stats : graph->expert_stats()) {
      std::printf("%-8s %-10s %6llu %7llu %8llu %9.2f\n", "", stats.layer.c_str(),
                  static_cast<unsigned long long>(stats.hits),
                  static_cast<unsigned long long>(stats.misses),
                  static_cast<unsigned long long>(stats.calls_host),
                  static_cast<double>(stats.bytes_moved) / 1e6);
    }
  }
  return equal && worst < 1e-3 ? 0 : 1;
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
