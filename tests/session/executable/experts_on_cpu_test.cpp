// The CPU computes the rows of missing experts: one host step in each layer repeats its calls.
#include "reprise/graph/compute_graph.h"
#include "tests/session/custom_kernels.h"
#include "tests/session/executable/experts_test_pass.h"

namespace reprise::testing {
namespace {

class ExpertsOnCpu : public ExpertsTest {
 protected:
  using Layer = std::function<Tensor(GraphSession&, const PlacedExperts&, const Tensor& row)>;

  /// The result of a layer, by way of a device that has so many experts.
  Floats run(std::int64_t resident, const Layer& layer, const Floats& x) {
    const std::int64_t rows = static_cast<std::int64_t>(x.size()) / kDim;
    ExecutableGraph graph(
        executor_,
        [&](GraphSession& s) {
          const Tensor h = s.input("x", {rows, kDim});
          const RoutedExperts routed =
              route_top_k(s, matmul(s, h, routers_[0]), {.k = static_cast<std::int32_t>(kUsed)});
          const Tensor row = reshape(s, h, {rows, 1, kDim});
          s.output("y", s.experts(kLayers[0], routed.ids, [&](const PlacedExperts& experts) {
            return layer(s, experts, row);
          }));
        },
        {.state = StateLayout().host_f32("factor", 2),
         .experts = setup(resident, ExpertMiss::cpu)});
    return graph.run({{"x", x}}).read("y");
  }
  void expect_refused(const std::string& op, const std::string& why, const Layer& layer) {
    expect_error(ErrorCode::unsupported, {"(" + op + ")", why},
                 [&] { (void)run(2, layer, random_rows(1)); });
  }
};
INSTANTIATE_TEST_SUITE_P(On, ExpertsOnCpu, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ExpertsOnCpu, TakeOneHostStepInALayer) {
  FinishResult recorded =
      executor_.capture([this](GraphSession& s) { record(s, 2); },
                        {.inputs = {{"x", random_rows(2)}}, .experts = setup(2, ExpertMiss::cpu)});
  std::vector<std::string> names;
  for (const auto& [node, name] : recorded.graph.graph().host_steps) {
    names.push_back(name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"missing experts of layer.0", "missing experts of layer.1"}));
}

TEST_P(ExpertsOnCpu, ComputeWhateverTheLayerCalls) {
  const Tensor shift = device_.from_host({kWide}, Floats(kWide, 0.5F));
  const Layer layer = [&](GraphSession& s, const PlacedExperts& experts, const Tensor& row) {
    // Views, a persistent tensor, an op behind the last product, a result with strides.
    const Tensor twice = repeat(s, row, {row.shape().dim(0), kUsed, 2 * kDim});
    const Tensor turned = slice(s, twice, 2, kDim / 2, kDim);
    const Tensor wide = reprise::add(s, experts.matmul(s, turned, "gate"), shift);
    const Tensor down = experts.matmul(s, silu(s, wide), "down");
    return permute(s, permute(s, scale(s, down, {.scale = 3, .bias = 1}), {2, 1, 0}), {2, 1, 0});
  };
  for (const std::int64_t resident : {1, 3, 6}) {
    const Floats x = random_rows(4);
    const Floats expected = run(kExperts, layer, x), actual = run(resident, layer, x);
    const auto doubles = [](const Floats& v) { return std::vector<double>(v.begin(), v.end()); };
    EXPECT_LT(nmse(doubles(expected), doubles(actual)), 1e-9) << resident << " resident";
  }
}

TEST_P(ExpertsOnCpu, CannotRepeatWhatIsNotTheDevices) {
  expect_refused("host_step", "a host step",
                 [](GraphSession& s, const PlacedExperts& experts, const Tensor& row) {
                   return experts.matmul(
                       s, host_step(s, "mine", {row}, {row.spec()}, [](HostStepCall&) {})[0],
                       "gate");
                 });
  expect_refused("scale", "a field of the state",
                 [](GraphSession& s, const PlacedExperts& experts, const Tensor& row) {
                   return experts.matmul(s, scale(s, row, {.scale = s.state("factor")}), "gate");
                 });
  const CustomKernel sum = sum_kernel(device_);
  expect_refused("kernel:sum", "a kernel of the caller's",
                 [&](GraphSession& s, const PlacedExperts& experts, const Tensor& row) {
                   const Tensor twice =
                       dispatch(s, sum, {row, row}, {row.spec()}, CountPush{kDim}, {1, 1, 1})[0];
                   return experts.matmul(s, twice, "gate");
                 });
  const Tensor kept = device_.zeros({3, 1, kDim}, DType::f32, "kept");
  expect_refused("set_rows", "made outside",
                 [&](GraphSession& s, const PlacedExperts& experts, const Tensor& row) {
                   set_rows(s, kept, row, {.position = 1});
                   return experts.matmul(s, row, "gate");
                 });
}

TEST_P(ExpertsOnCpu, GiveARowForEveryExpertOfARow) {
  expect_error(ErrorCode::shape_mismatch, {"'layer.0'", "[3, 2, ..]", "[24, 2, 3]"}, [&] {
    (void)run(
        2,
        [](GraphSession& s, const PlacedExperts& experts, const Tensor& row) {
          return permute(s, experts.matmul(s, row, "gate"), {2, 1, 0});
        },
        random_rows(3));
  });
}

}  // namespace
}  // namespace reprise::testing
