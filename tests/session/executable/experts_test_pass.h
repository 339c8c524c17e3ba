// A small mixture of experts with random weights, for tests of where they are.
#pragma once
#include <random>

#include "tests/session/executable/executable_test.h"

namespace reprise::testing {

/// Two layers of 8 experts, 2 of them per row, on rows of 16 that go through 24.
class ExpertsTest : public ExecutableTest {
 protected:
  static constexpr std::int64_t kExperts = 8, kUsed = 2, kDim = 16, kWide = 24;
  static constexpr const char* kLayers[] = {"layer.0", "layer.1"};

  explicit ExpertsTest(DType dtype = DType::f32) {
    for (const char* layer : kLayers) {
      add(layer, "gate", {kExperts, kWide, kDim}, dtype);
      add(layer, "up", {kExperts, kWide, kDim}, dtype);
      add(layer, "down", {kExperts, kDim, kWide}, DType::f32);
      routers_.push_back(device_.from_host({kExperts, kDim}, DType::f32,
                                           random_bytes(rng_, DType::f32, kExperts * kDim, -1, 1),
                                           std::string(layer) + "/router"));
    }
  }
  void add(const char* layer, const char* name, const Shape& shape, DType dtype) {
    const std::vector<std::byte> bytes = random_bytes(rng_, dtype, shape.elements(), -1, 1);
    store_.add(layer, name, shape, dtype, bytes);
  }

  struct LayerResult {
    Tensor y, ids;
  };
  LayerResult layer(GraphSession& s, std::size_t l, const Tensor& x) const {
    const auto scope = s.scope("layer", static_cast<std::int32_t>(l));
    const RoutedExperts routed =
        route_top_k(s, matmul(s, x, routers_[l]), {.k = static_cast<std::int32_t>(kUsed)});
    const Tensor shared = reshape(s, x, {x.shape().extent(0), 1, kDim});
    const Tensor y = s.experts(kLayers[l], routed.ids, [&](const PlacedExperts& experts) {
      return experts.matmul(
          s, silu_mul(s, experts.matmul(s, shared, "gate"), experts.matmul(s, shared, "up")),
          "down");
    });
    return {add_rows(s, x, combine_experts(s, y, routed.weights)), routed.ids};
  }
  void record(GraphSession& s, std::int64_t rows) const {
    Tensor x = s.input("x", {rows, kDim});
    for (std::size_t l = 0; l < routers_.size(); ++l) {
      const LayerResult result = layer(s, l, x);
      x = result.y;
      s.output("ids." + std::to_string(l), result.ids);
    }
    s.output("y", x);
  }
  static Tensor add_rows(GraphSession& s, const Tensor& a, const Tensor& b) {
    return rms_norm(s, reprise::add(s, a, b), {}, {.eps = 1e-5F});
  }

  /// `resident` of 8 experts have a cell.
  ExpertSetup setup(std::int64_t resident, ExpertMiss misses, std::uint32_t refresh = 0) const {
    ExpertSetup setup{.store = store_};
    std::uint64_t one_each = 0;
    for (const ExpertStore::Layer& layer : store_.layers()) {
      one_each += layer.expert_bytes();
    }
    setup.options = {
        .budget_bytes = resident == kExperts ? 0 : static_cast<std::uint64_t>(resident) * one_each,
        .misses = misses,
        .refresh_interval = refresh};
    if (misses == ExpertMiss::cpu) {
      setup.cpu = test_device("cpu");
    }
    return setup;
  }
  ExecutableGraph graph(const ExpertSetup& experts, std::int64_t rows = 1) {
    return graph(executor_, experts, rows);
  }
  ExecutableGraph graph(GraphExecutor& executor, const ExpertSetup& experts,
                        std::int64_t rows = 1) {
    return ExecutableGraph(executor, [this, rows](GraphSession& s) { record(s, rows); },
                           {.name = "experts", .experts = experts});
  }
  Floats random_rows(std::int64_t rows) {
    return floats(random_bytes(rng_, DType::f32, rows * kDim, -1, 1));
  }

  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  ExpertStore store_{kExperts};
  std::vector<Tensor> routers_;
};

}  // namespace reprise::testing
