// Kernels made ready before their first use, and what that leaves alone.
#include <algorithm>

#include "reprise/backend/backend.h"
#include "reprise/backend/step.h"
#include "reprise/graph/execution_plan.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Prewarm : public ::testing::TestWithParam<std::string> {
 protected:
  static OpenOptions options() {
    OpenOptions options;
    options.validation = GetParam() == "vulkan";
    return options;
  }
  /// Kernels whose pipelines exist.
  std::size_t pipelines(const CapturedGraph& of) const {
    const StepList& steps = of.plan().steps;
    std::vector<Kernel> known;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const Kernel& kernel = steps[s].kernel;
      if (device_.backend().kernel_info(kernel) && std::ranges::count(known, kernel) == 0) {
        known.push_back(kernel);
      }
    }
    return known.size();
  }
  void pass(GraphSession& s) const {
    const Tensor x = s.input("x", {2, 4}, x_);
    const Tensor y = rms_norm(s, add(s, x, x), weight_, {.eps = 1e-5F});
    set_rows(s, cache_, y, SetRowsAttributes{.position = 0});
    s.output("y", mul(s, y, y));
  }
  bool has_pipelines() const { return GetParam() == "vulkan"; }

  // A device of its own: no other test has made pipelines in it.
  Device device_ = open_device(GetParam(), options());
  GraphExecutor executor_{device_};
  Tensor weight_ = device_.from_host({4}, std::vector<float>(4, 1), "weight");
  Tensor cache_ = device_.from_host({2, 4}, std::vector<float>(8, 7), "cache");
  const std::vector<float> x_{1, 2, 3, 4, 5, 6, 7, 8};
};
INSTANTIATE_TEST_SUITE_P(On, Prewarm, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Prewarm, TheFirstSessionAfterItCreatesNoPipeline) {
  // Planning alone makes none, so this graph can be asked what there is.
  GraphExecutor other(test_device(GetParam()));
  const Tensor weight = other.device().from_host({4}, std::vector<float>(4, 1), "weight");
  const Tensor cache = other.device().zeros({2, 4}, DType::f32, "cache");
  auto r = other.begin_recorded();
  const Tensor x = r.input("x", {2, 4}, x_);
  const Tensor y = rms_norm(r, add(r, x, x), weight, {.eps = 1e-5F});
  set_rows(r, cache, y, SetRowsAttributes{.position = 0});
  r.output("y", mul(r, y, y));
  const CapturedGraph plan = r.finish({.run = false}).graph;
  EXPECT_EQ(pipelines(plan), 0U);
  const WarmUp warm = executor_.prewarm([&](GraphSession& s) { pass(s); });
  EXPECT_GT(warm.ns, 0U);
  const std::size_t made = pipelines(plan);
  EXPECT_EQ(made, has_pipelines() ? 4U : 0U);
  EXPECT_EQ(warm.kernels, made);
  auto s = executor_.begin();
  pass(s);
  (void)s.finish();
  EXPECT_EQ(pipelines(plan), made);
}

TEST_P(Prewarm, RunsAndTouchesNothing) {
  const StateBlock state(device_, StateLayout().carried("pos", 5));
  const std::uint64_t before =
      device_.backend().last_use(*TensorRef(cache_)->buffer, Access::read_write);
  (void)executor_.prewarm(
      [&](GraphSession& s) {
        pass(s);
        advance(s, s.input("next", {1}, std::vector<std::int32_t>{3}),
                {.position = s.state("pos"), .rows = 1});
      },
      {.state = state});
  EXPECT_EQ(device_.backend().last_use(*TensorRef(cache_)->buffer, Access::read_write), before);
  EXPECT_EQ(to_doubles(DType::f32, device_.to_host(cache_)), std::vector<double>(8, 7));
  EXPECT_EQ(state.get("pos"), 5);
}

TEST_P(Prewarm, APassThatThrowsLeavesTheExecutorUsable) {
  EXPECT_THROW((void)executor_.prewarm([](GraphSession& s) { (void)s.state("pos"); }), Error);
  EXPECT_NO_THROW((void)executor_.prewarm([&](GraphSession& s) { pass(s); }));
}

TEST_P(Prewarm, AnUploadedGraphIsReadyAndHasNotRun) {
  auto s = executor_.begin_recorded();
  pass(s);
  CapturedGraph graph = s.finish({.run = false}).graph;
  EXPECT_FALSE(graph.is_uploaded());
  EXPECT_GT(graph.upload(), 0U);
  EXPECT_TRUE(graph.is_uploaded());
  EXPECT_EQ(graph.upload(), 0U) << "the second time there is nothing to do";
  EXPECT_EQ(graph.num_replays(), 0U);
  EXPECT_EQ(to_doubles(DType::f32, device_.to_host(cache_)), std::vector<double>(8, 7));
  EXPECT_EQ(pipelines(graph), has_pipelines() ? 4U : 0U);
}

TEST_P(Prewarm, AGraphThatRanIsUploaded) {
  auto s = executor_.begin_recorded();
  pass(s);
  CapturedGraph graph = s.finish().graph;
  EXPECT_TRUE(graph.is_uploaded());
  EXPECT_EQ(graph.upload(), 0U);
}

}  // namespace
}  // namespace reprise::testing
