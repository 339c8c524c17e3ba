// How close arenas come to the most memory that is alive at once, which none can be smaller than.
#include <algorithm>
#include <cstdio>

#include "samples/llama/forward.h"
#include "tests/graph/pass_sets.h"
#include "tests/graph/plan_of.h"

namespace reprise::testing {
namespace {

double over_live_peak(const ExecutionPlan& plan) {
  return static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.live_peak_bytes);
}

class ArenaOfAModel : public ::testing::TestWithParam<std::string> {
 protected:
  ExecutionPlan plan(std::int64_t rows, const PassOptions& passes) {
    GraphSession s = executor_.begin_recorded({.state = state_});
    const std::vector<std::int32_t> ids(static_cast<std::size_t>(rows), 1);
    const Tensor y =
        llama::forward(s, model_, get_rows(s, model_.embedding, s.input("ids", {rows}, ids)));
    s.output("next", llama::choose(s, y));
    return s.finish({.passes = passes, .run = false}).graph.plan();
  }
  static void expect_at_most(double max, const char* what, const ExecutionPlan& plan) {
    std::printf("%s: arena %llu, live peak %llu, ratio %.3f\n", what,
                static_cast<unsigned long long>(plan.arena_bytes),
                static_cast<unsigned long long>(plan.live_peak_bytes), over_live_peak(plan));
    EXPECT_LE(over_live_peak(plan), max) << what;
  }
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  GgufFile file_ = GgufFile::open(REPRISE_MODELS_DIR "/tales-q8_0.gguf");
  llama::Model model_ = llama::load_model(device_, file_, 256);
  StateBlock state_{device_, llama::state_layout(2, 256)};
};
INSTANTIATE_TEST_SUITE_P(On, ArenaOfAModel, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ArenaOfAModel, IsAtMostATenthLargerThanWhatIsAlive) {
  for (const PassOptions& passes : {PassOptions::none(), PassOptions::exact()}) {
    expect_at_most(1.1, "decode", plan(1, passes));
    expect_at_most(1.1, "prefill", plan(128, passes));
  }
}

TEST(ArenaOfRandomGraphs, PlannedByStepIsHardlyLargerThanWhatIsAlive) {
  for (const PassOptions& passes : {PassOptions::none(), PassOptions::exact()}) {
    std::vector<double> ratios;
    for_random_graphs(1000, 200, [&](const ComputeGraph& graph) {
      ratios.push_back(over_live_peak(plan_of(graph, {}, {ReuseRule::step, passes})));
    });
    std::ranges::sort(ratios);
    const double median = ratios[ratios.size() / 2], p95 = ratios[ratios.size() * 95 / 100];
    std::printf("%zu graphs: median %.3f, p95 %.3f, worst %.3f\n", ratios.size(), median, p95,
                ratios.back());
    EXPECT_LE(median, 1.05);
    EXPECT_LE(p95, 1.2);
  }
}

}  // namespace
}  // namespace reprise::testing
