// Options that do not apply to a call are refused by name.
#include "tests/session/rows/row_test.h"

namespace reprise::testing {
namespace {

class RefusedOptions : public DeviceRows {
 protected:
  static void doubled(GraphSession& s) {
    s.output("y", scale(s, s.input("x", {4}, Floats(4, 1)), {.scale = 2}));
  }
  void finish_direct(const FinishOptions& options) {
    auto s = executor_.begin({.name = "once"});
    doubled(s);
    (void)s.finish(options);
  }
  ExpertSetup experts() const { return {.store = ExpertStore(4)}; }
};
INSTANTIATE_TEST_SUITE_P(On, RefusedOptions, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(RefusedOptions, ADirectSessionFinishesWithoutThoseOfRecordedOnes) {
  const std::vector<std::pair<std::string, FinishOptions>> rows{
      {"(reuse)", {.reuse = ReuseRule::step}},
      {"(passes)", {.passes = PassOptions::exact()}},
      {"(slots)", {.slots = 3}},
      {"(run)", {.run = false}},
      {"(pool)", {.pool = CapturePool(device_)}},
      {"(joined_host_steps)", {.joined_host_steps = true}}};
  for (const auto& row : rows) {
    expect_error(ErrorCode::invalid_argument, {"'once'", row.first},
                 [&] { finish_direct(row.second); });
  }
  finish_direct({});
}

TEST_P(RefusedOptions, ARecordedSessionIsNotSubmittedInParts) {
  const SessionOptions parts{.name = "kept", .ops_per_submit = 2};
  for (const std::function<void()>& begin :
       std::vector<std::function<void()>>{[&] { (void)executor_.begin_recorded(parts); },
                                          [&] { (void)executor_.begin_graph_capture(parts); },
                                          [&] { (void)executor_.capture(doubled, parts); },
                                          [&] { (void)executor_.prewarm(doubled, parts); }}) {
    expect_error(ErrorCode::invalid_argument, {"'kept'", "(2) ops_per_submit"}, begin);
  }
  const GraphOwner owner("model");
  GraphCache cache(executor_);
  EXPECT_EQ(
      cache
          .run({.owner = owner, .tag = "key"},
               [](GraphSession& s) { s.output("y", scale(s, s.input("x", {4}), {.scale = 2})); },
               {.ops_per_submit = 1, .inputs = {{"x", Floats(4, 1)}}})
          .read("y"),
      Floats(4, 2))
      << "a key may have to run directly";
}

TEST_P(RefusedOptions, PassesUnderAKeyHaveNoExperts) {
  const GraphOwner owner("model");
  GraphCache cache(executor_);
  const auto pass = [](GraphSession& s) {
    s.output("y", scale(s, s.input("x", {4}), {.scale = 2}));
  };
  expect_error(ErrorCode::invalid_argument, {"'mine'", "experts", "ExecutableGraph"}, [&] {
    (void)cache.run({.owner = owner, .tag = "key"}, pass,
                    {.name = "mine", .inputs = {{"x", Floats(4, 1)}}, .experts = experts()});
  });
}

TEST_P(RefusedOptions, ACacheRunsWhatItRecords) {
  const GraphCacheOptions idle{.finish = {.run = false}};
  expect_error(ErrorCode::invalid_argument, {"finish.run", "(false)"},
               [&] { GraphCache cache(executor_, idle); });
  expect_error(ErrorCode::invalid_argument, {"finish.run", "(false)"},
               [&] { GraphExecutor executor(device_, {.graphs = idle}); });
}

TEST_P(RefusedOptions, WhatNeverWaitsHasNoTimeout) {
  CapturedGraph graph = executor_.capture(doubled).graph;
  expect_error(
      ErrorCode::invalid_argument, {"try_launch_async", "slot_timeout", "(5000000) ns"},
      [&] { (void)graph.try_launch_async({.slot_timeout = std::chrono::milliseconds(5)}); });
}

}  // namespace
}  // namespace reprise::testing
