// What a user does with sessions and graphs, and what they are told when it is wrong. On both
// backends.
#include <numeric>

#include "reprise/backend/backend.h"
#include "reprise/graph/compute_graph.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Session : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  std::vector<float> x_{1, 2, 3, 4};
};
INSTANTIATE_TEST_SUITE_P(On, Session, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Session, DirectRunsOnceInFinish) {
  auto s = executor_.begin();
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", add(s, x, x));
  const FinishResult result = s.finish();
  EXPECT_EQ(result.read("y"), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(result.report.ops, 1U);
  EXPECT_FALSE(result.graph);
}

TEST_P(Session, RecordedRunsOnceInFinishAndThenReplays) {
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", add(s, x, x));
  FinishResult result = s.finish();
  EXPECT_EQ(result.read("y"), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(result.graph.num_replays(), 1U);
  result.graph.launch();
  EXPECT_EQ(result.graph.read("y"), (std::vector<float>{2, 4, 6, 8}));
  result.graph.set_input("x", std::vector<float>{1, 1, 1, 5});
  result.graph.launch();
  EXPECT_EQ(result.graph.read("y"), (std::vector<float>{2, 2, 2, 10}));
  EXPECT_EQ(result.graph.num_replays(), 3U);
}

TEST_P(Session, ReplaysAllocateNothing) {
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", mul(s, add(s, x, x), x));
  CapturedGraph graph = s.finish().graph;
  const std::uint64_t before = device_.backend().allocation_count();
  for (int i = 0; i < 20; ++i) {
    graph.set_input("x", x_);
    graph.launch();
  }
  EXPECT_EQ(device_.backend().allocation_count(), before);
}

TEST_P(Session, TheSecondDirectSessionOfAKindAllocatesNothing) {
  const auto run = [&] {
    auto s = executor_.begin();
    Tensor x = s.input("x", {4}, x_);
    for (int i = 0; i < 50; ++i) {
      x = add(s, x, x);
    }
    s.output("y", x);
    return s.finish().report;
  };
  EXPECT_GT(run().arena_growths, 0U);
  const std::uint64_t before = device_.backend().allocation_count();
  EXPECT_EQ(run().arena_growths, 0U);
  EXPECT_EQ(device_.backend().allocation_count(), before);
}

TEST_P(Session, ADirectSessionReusesTheMemoryOfDroppedTensors) {
  const std::vector<float> large(std::size_t{1} << 18U, 1.0F);  // a chunk holds one of them
  auto s = executor_.begin();
  Tensor x = s.input("x", {static_cast<std::int64_t>(large.size())}, large);
  for (int i = 0; i < 64; ++i) {
    x = add(s, x, x);
  }
  s.output("y", x);
  const FinishReport report = s.finish().report;
  EXPECT_LE(report.arena_bytes, 8 * large.size() * sizeof(float));
}

TEST_P(Session, AnUnfinishedSessionIsDiscarded) {
  {
    auto s = executor_.begin();
    const Tensor x = s.input("x", {4}, x_);
    const Tensor dropped = add(s, x, x);
  }
  auto s = executor_.begin();
  s.output("x", s.input("x", {4}, x_));
  EXPECT_EQ(s.finish().read("x"), x_);
}

TEST_P(Session, ATensorMayOutliveItsSession) {
  Tensor kept;
  {
    auto s = executor_.begin_recorded();
    kept = s.input("x", {4}, x_);
    s.output("y", add(s, kept, kept));
    (void)s.finish();
  }
  EXPECT_EQ(kept.shape(), Shape({4}));
}

TEST_P(Session, AGraphMayOutliveItsExecutorAndWeights) {
  CapturedGraph graph;
  {
    GraphExecutor executor(device_);
    const Tensor w = device_.from_host({4}, x_, "w");
    auto s = executor.begin_recorded();
    s.output("y", mul(s, s.input("x", {4}, x_), w));
    graph = s.finish().graph;
  }
  graph.launch();
  EXPECT_EQ(graph.read("y"), (std::vector<float>{1, 4, 9, 16}));
}

TEST_P(Session, InputsAndPersistentTensorsMayBeOutputs) {
  const Tensor w = device_.from_host({4}, x_, "w");
  for (const bool recorded : {false, true}) {
    auto s = recorded ? executor_.begin_recorded() : executor_.begin();
    s.output("x", s.input("x", {4}, x_));
    s.output("w", w);
    const FinishResult result = s.finish();
    EXPECT_EQ(result.read("x"), x_);
    EXPECT_EQ(result.read("w"), x_);
  }
}

TEST_P(Session, AnEmptyGraphFinishes) {
  for (const bool recorded : {false, true}) {
    auto s = recorded ? executor_.begin_recorded() : executor_.begin();
    EXPECT_EQ(s.finish().report.ops, 0U);
  }
}

TEST_P(Session, TensorsWithoutElementsAreLegal) {
  const Tensor table = device_.zeros({2, 4}, DType::f32, "table");
  for (const bool recorded : {false, true}) {
    auto s = recorded ? executor_.begin_recorded() : executor_.begin();
    const Tensor x = s.input("x", {0, 4}, std::vector<float>{});
    set_rows(s, table, x, {.position = 0});
    s.output("y", add(s, x, x));
    EXPECT_TRUE(s.finish().read("y").empty());
  }
}

TEST_P(Session, SeveralSessionsMayBeOpenAtOnce) {
  auto a = executor_.begin();
  auto b = executor_.begin_recorded();
  const Tensor xa = a.input("x", {4}, x_);
  const Tensor xb = b.input("x", {4}, x_);
  a.output("y", add(a, xa, xa));
  b.output("y", mul(b, xb, xb));
  EXPECT_EQ(b.finish().read("y"), (std::vector<float>{1, 4, 9, 16}));
  EXPECT_EQ(a.finish().read("y"), (std::vector<float>{2, 4, 6, 8}));
}

TEST_P(Session, AnUndeclaredOutputNamesOutput) {
  auto s = executor_.begin();
  s.output("y", s.input("x", {4}, x_));
  const FinishResult result = s.finish();
  expect_error(ErrorCode::unknown_name, {"(z)", "y"}, [&] { (void)result.read("z"); });
  expect_error(ErrorCode::dtype_mismatch, {"(i32)", "f32 [4]"},
               [&] { (void)result.read<std::int32_t>("y"); });
}

TEST_P(Session, ReadingATransientNamesOutput) {
  auto s = executor_.begin();
  const Tensor x = s.input("x", {4}, x_);
  expect_error(ErrorCode::invalid_argument, {"transient", "output()"},
               [&] { (void)device_.to_host(x); });
}

TEST_P(Session, NothingCanBeRecordedAfterFinish) {
  for (const bool recorded : {false, true}) {
    auto s = recorded ? executor_.begin_recorded() : executor_.begin();
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", x);
    (void)s.finish();
    expect_error(ErrorCode::invalid_argument, {"is finished"}, [&] { (void)add(s, x, x); });
    expect_error(ErrorCode::invalid_argument, {"is finished"}, [&] { (void)s.finish(); });
    expect_error(ErrorCode::invalid_argument, {"is finished"},
                 [&] { (void)s.input("z", {4}, x_); });
  }
}

TEST_P(Session, AThrowInvalidatesTheSessionAndSaysWhy) {
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  const Tensor y = s.input("y", {3}, std::vector<float>{1, 2, 3});
  expect_error(ErrorCode::invalid_argument, {"f32 [4]", "f32 [3]"}, [&] { (void)add(s, x, y); });
  EXPECT_TRUE(s.invalidated());
  expect_error(ErrorCode::invalid_argument, {"invalidated", "f32 [3]"},
               [&] { (void)add(s, x, x); });
  expect_error(ErrorCode::invalid_argument, {"invalidated"}, [&] { (void)s.finish(); });
}

TEST_P(Session, InputsAndOutputsAreChecked) {
  auto s = executor_.begin();
  expect_error(ErrorCode::size_mismatch, {"'x' is f32 [5]", "20", "(16)"},
               [&] { (void)s.input("x", {5}, x_); });
  auto t = executor_.begin();
  (void)t.input("x", {4}, x_);
  expect_error(ErrorCode::invalid_argument, {"'x' already"}, [&] { (void)t.input("x", {4}, x_); });
  auto u = executor_.begin();
  const Tensor x = u.input("x", {2, 2}, x_);
  expect_error(ErrorCode::invalid_argument, {"strided view", "copy"}, [&] {
    u.output("y", permute(u, x, {1, 0}));
  });
  auto v = executor_.begin();
  expect_error(ErrorCode::invalid_argument, {"another session"}, [&] { v.output("y", x); });
}

TEST_P(Session, SettingAGraphIsChecked) {
  auto s = executor_.begin_recorded();
  s.output("y", s.input("x", {4}, x_));
  CapturedGraph graph = s.finish().graph;
  expect_error(ErrorCode::unknown_name, {"input (z)", "x"}, [&] { graph.set_input("z", x_); });
  expect_error(ErrorCode::size_mismatch, {"f32 [4]", "(8)"}, [&] {
    graph.set_input("x", std::vector<float>{1, 2});
  });
  expect_error(ErrorCode::dtype_mismatch, {"f32 [4]", "i32"}, [&] {
    graph.set_input("x", std::vector<std::int32_t>{1, 2, 3, 4});
  });
  expect_error(ErrorCode::unknown_name, {"state", "(pos)"}, [&] { graph.set_state("pos", 1); });
  graph.launch();
  EXPECT_EQ(graph.read("y"), x_);
}

TEST_P(Session, TensorsOfAnotherDeviceAreRefused) {
  const Tensor foreign =
      test_device(GetParam() == "cpu" ? "vulkan" : "cpu").from_host({4}, x_, "foreign");
  auto direct = executor_.begin();
  const Tensor x = direct.input("x", {4}, x_);
  expect_error(ErrorCode::invalid_argument, {"'foreign'", "another device"},
               [&] { (void)add(direct, x, foreign); });
  auto recorded = executor_.begin_recorded();
  recorded.output("y", add(recorded, recorded.input("x", {4}, x_), foreign));
  expect_error(ErrorCode::invalid_argument, {"'foreign'", "another device"},
               [&] { (void)recorded.finish(); });
}

TEST_P(Session, AnEmptyGraphHandleIsAnError) {
  CapturedGraph none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.num_replays(), 0U);
  expect_error(ErrorCode::invalid_argument, {"empty"}, [&] { none.launch(); });
}

TEST_P(Session, NodesNameTheUsersLineAndScope) {
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  {
    const auto layer = s.scope("layer", 3);
    const auto attn = s.scope("attn");
    s.output("y", add(s, x, x));
  }
  const auto line = static_cast<std::uint32_t>(__LINE__ - 2);
  const CapturedGraph graph = s.finish().graph;
  const ComputeGraph& recorded = graph.graph();
  EXPECT_EQ(recorded.names.path(recorded.nodes[0].scope), "layer.3/attn");
  EXPECT_EQ(recorded.nodes[0].where.line, line);
  EXPECT_EQ(std::string(recorded.nodes[0].where.file), __FILE__);
}

}  // namespace
}  // namespace reprise::testing
