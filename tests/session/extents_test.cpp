// Extents: one graph serves every number of rows of its bucket, as if it were recorded for that
// one.
#include "framework/core/op.h"
#include "framework/graph/structure_hash.h"
#include "reprise/backend/step.h"
#include "reprise/graph/execution_plan.h"
#include "reprise/session/saved_graphs.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/session/extent_passes.h"

namespace reprise::testing {
namespace {

class Extents : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  const std::uint64_t seed_ = test_seed();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  ExtentRuns runs_{extent_device(GetParam()), seed_};

  std::int32_t some_rows() {
    return static_cast<std::int32_t>(1 + rng_() % (ExtentRuns::kBucket - 1));
  }
  std::int32_t some_position() {  // what is written fits into the tables
    return static_cast<std::int32_t>(rng_() % (ExtentRuns::kContext - ExtentRuns::kBucket + 1));
  }
  std::vector<std::int32_t> numbers_of_rows() {
    return {ExtentRuns::kBucket, 1, some_rows(), some_rows(), 2, ExtentRuns::kBucket};
  }
  ExtentPass pass(std::string_view name) const {
    for (ExtentPass& known : passes_) {
      if (known.name == name) {
        return known;
      }
    }
    throw_invalid_argument("There is no pass (" + std::string(name) + ").");
  }
  mutable std::vector<ExtentPass> passes_ = runs_.passes();
};
INSTANTIATE_TEST_SUITE_P(On, Extents,
                         ::testing::Values("cpu", "reference", "vulkan", "vulkan_portable",
                                           "vulkan_gpu"),
                         device_param_name);

TEST_P(Extents, AGraphComputesWhatADirectSessionOfThatExtentComputes) {
  for (const ExtentPass& pass : passes_) {
    CapturedGraph graph = runs_.graph(pass);
    for (const std::int32_t rows : numbers_of_rows()) {
      SCOPED_TRACE(pass.name + " of " + std::to_string(rows) + " rows");
      const std::int32_t position = some_position();
      EXPECT_EQ(runs_.replay(graph, rows, position), runs_.direct(pass, rows, position));
    }
  }
}

// Kernels are chosen for the bucket: with fewer rows a device may choose others, which add up in
// another order.
TEST_P(Extents, AGraphComputesWhatASessionOfExactlyThatManyRowsComputes) {
  const std::int32_t fewest = runs_.fewest_rows_of_same_kernels();
  for (const ExtentPass& pass : passes_) {
    CapturedGraph graph = runs_.graph(pass);
    for (const std::int32_t some : numbers_of_rows()) {
      const std::int32_t rows = std::max(some, fewest);
      SCOPED_TRACE(pass.name + " of " + std::to_string(rows) + " rows");
      const std::int32_t position = some_position();
      EXPECT_EQ(runs_.replay(graph, rows, position), runs_.fixed(pass, rows, position));
    }
  }
}

TEST_P(Extents, AreThoseOfFusedCallsToo) {
  const ExtentPass fusible = pass("fusible");
  CapturedGraph graph = runs_.graph(fusible, 1, PassOptions::exact());
  EXPECT_EQ(graph.plan().fused.size(), GetParam().starts_with("vulkan") ? 4U : 5U);
  for (const std::int32_t rows : numbers_of_rows()) {
    const std::int32_t position = some_position();
    EXPECT_EQ(runs_.replay(graph, rows, position), runs_.direct(fusible, rows, position)) << rows;
  }
}

// Results alone would not show a step that always computes the bucket.
TEST_P(Extents, StepsOverRowsReadTheirGridsFromThem) {
  const std::uint32_t rows = runs_.state().layout().find("rows")->word;
  for (const ExtentPass& pass : passes_) {
    const CapturedGraph captured = runs_.graph(pass);
    const ExecutionPlan& plan = captured.plan();
    const ComputeGraph& graph = *plan.graph;
    const StepList& steps = plan.steps;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const Step& step = steps[s];
      const bool over_rows =
          std::ranges::any_of(graph.uses_of(graph.nodes[step.node]), [&](const Use& use) {
            const bool taken_from = step.op->extents == ExtentRule::indexed && use.slot == 0;
            return !taken_from && !graph.tensors[use.tensor].spec.shape.fixed();
          });
      EXPECT_TRUE(!over_rows || (step.indirect && step.extent == rows && step.live.units > 0))
          << pass.name << ": " << step.op->name;
    }
  }
}

TEST_P(Extents, OutputsHaveTheRowsOfTheirLaunch) {
  CapturedGraph graph = runs_.graph(pass("norm"));
  (void)runs_.replay(graph, 7, 0);
  EXPECT_EQ(graph.output("norm").spec.shape, Shape({7, 24}));
  EXPECT_EQ(graph.read<std::int32_t>("largest").size(), 7U);
}

TEST_P(Extents, WithoutRowsNothingRuns) {
  CapturedGraph graph = runs_.graph(pass("attention"));
  (void)runs_.replay(graph, 5, 0);
  runs_.prepare(0, 3);
  const auto tables = runs_.tables();
  graph.launch();
  EXPECT_EQ(runs_.tables(), tables);
  EXPECT_EQ(graph.iterations(), 0U);
  expect_error(ErrorCode::invalid_argument, {"did not run"},
               [&] { (void)graph.output("attention"); });
}

// A workgroup of the gpu kernels computes all of a few rows: its grid does not depend on how many.
TEST_P(Extents, WithoutRowsNothingRunsWhereNoGridDependsOnThem) {
  const Tensor w = runs_.tensors().at("w");
  auto s = runs_.executor().begin_recorded({.state = runs_.state(), .extents = {{"rows", 4}}});
  s.output("y", matmul(s, s.input("x", {s.extent("rows"), 24}, std::vector<float>(24)), w));
  CapturedGraph graph = s.finish({.run = false}).graph;
  graph.set_state("rows", 0);
  graph.launch();
  EXPECT_EQ(graph.iterations(), 0U);
}

TEST_P(Extents, WithoutRowsADirectSessionRunsNothing) {
  runs_.prepare(0, 3);
  const auto tables = runs_.tables();
  auto session = runs_.executor().begin({.state = runs_.state(), .extents = {{"rows", 20}}});
  const Tensor x = session.input("x", {session.extent("rows"), 24}, std::span<const float>());
  pass("attention").record(session, {x, x, {}});
  const FinishResult result = session.finish();
  EXPECT_EQ(runs_.tables(), tables);
  EXPECT_TRUE(result.outputs().all().empty());
}

TEST_P(Extents, ALaunchAfterOneWithoutRowsRuns) {
  const ExtentPass norm = pass("norm");
  CapturedGraph graph = runs_.graph(norm);
  runs_.prepare(0, 0);
  graph.launch();
  EXPECT_EQ(runs_.replay(graph, 6, 0), runs_.direct(norm, 6, 0));
}

TEST_P(Extents, StayAsTheyAreUntilTheyAreSet) {
  CapturedGraph graph = runs_.graph(pass("norm"));
  (void)runs_.replay(graph, 6, 0);
  graph.launch();
  EXPECT_EQ(graph.read<std::int32_t>("largest").size(), 6U);
}

TEST_P(Extents, IterationsHaveTheRowsToo) {
  const ExtentPass norm = pass("norm");
  CapturedGraph graph = runs_.graph(norm, 4);
  runs_.prepare(9, 0);
  for (const NamedInput& input : runs_.inputs(9)) {
    graph.set_input(input.name, input.dtype, input.bytes);
  }
  graph.launch({.iterations = 3});
  EXPECT_EQ(graph.iterations(), 3U);
  EXPECT_EQ(graph.read<std::byte>("norm"), runs_.direct(norm, 9, 0).at("norm"));
}

TEST_P(Extents, OfASavedGraphAreThoseItWasRecordedWith) {
  const ExtentPass attention = pass("attention");
  CapturedGraph graph = runs_.graph(attention);
  const test::TempFolder folder;
  const auto path = folder / "extents";
  graph.save(path);
  CapturedGraph loaded =
      runs_.executor().load_graph(path, {.tensors = runs_.tensors(), .state = runs_.state()}).graph;
  for (const std::int32_t rows : numbers_of_rows()) {
    EXPECT_EQ(runs_.replay(loaded, rows, 2), runs_.replay(graph, rows, 2)) << rows;
  }
  loaded.set_state("rows", 21);
  expect_error(ErrorCode::extent_out_of_range, {"'rows'", "0 to 20"}, [&] { loaded.launch(); });
}

TEST_P(Extents, ChangeTheStructureOfAGraph) {
  const ExtentPass norm = pass("norm");
  auto fixed = runs_.executor().begin_recorded({.name = "norm", .state = runs_.state()});
  const std::vector<float> x(20 * 24);
  const Tensor t = fixed.input("x", {20, 24}, x);
  norm.record(fixed, {t, t, {}});
  auto bucket = runs_.executor().begin_recorded(
      {.name = "norm", .state = runs_.state(), .extents = {{"rows", 20}}});
  const Tensor u = bucket.input("x", {bucket.extent("rows"), 24}, x);
  norm.record(bucket, {u, u, {}});
  const CapturedGraph a = fixed.finish({.run = false}).graph;
  const CapturedGraph b = bucket.finish({.run = false}).graph;
  EXPECT_NE(structure_hash(a.graph()), structure_hash(b.graph()));
}

class ExtentErrors : public ::testing::TestWithParam<std::string> {
 protected:
  GraphSession begin(const std::vector<ExtentBucket>& extents, bool recorded = true) {
    const SessionOptions options{.state = state_, .extents = extents};
    return recorded ? executor_.begin_recorded(options) : executor_.begin(options);
  }
  /// y = x + x over [rows, 4].
  CapturedGraph doubled() {
    auto s = begin({{"rows", 8}});
    const Tensor x = s.input("x", {s.extent("rows"), 4}, std::vector<float>(4));
    s.output("y", add(s, x, x));
    return s.finish({.run = false}).graph;
  }
  template <class F>
  void expect_refused(const std::vector<std::string>& parts, F&& record) {
    auto s = begin({{"rows", 8}, {"others", 8}});
    expect_error(ErrorCode::invalid_argument, parts, [&] { record(s); });
  }
  Tensor rows_by_4(GraphSession& s, std::string_view name = "rows") {
    return s.input(name, {s.extent(name), 4}, std::vector<float>(4));
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const StateBlock state_{
      device_, StateLayout().host("rows", 1).host("others", 1).host_f32("heat").carried("pos")};
};
INSTANTIATE_TEST_SUITE_P(On, ExtentErrors, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ExtentErrors, MoreRowsThanTheBucketAreRefused) {
  CapturedGraph graph = doubled();
  graph.set_input("x", std::vector<float>(32));
  graph.set_state("rows", 9);
  expect_error(ErrorCode::extent_out_of_range, {"'rows'", "(9)", "0 to 8"},
               [&] { graph.launch(); });
  graph.set_state("rows", 8);
  graph.launch();
  EXPECT_EQ(graph.read("y").size(), 32U);
}

TEST_P(ExtentErrors, ANegativeNumberOfRowsIsRefused) {
  CapturedGraph graph = doubled();
  graph.set_state("rows", -1);
  expect_error(ErrorCode::extent_out_of_range, {"'rows'", "(-1)", "0 to 8"},
               [&] { graph.launch(); });
}

TEST_P(ExtentErrors, MoreRowsThanAnInputWasGivenAreRefused) {
  CapturedGraph graph = doubled();
  graph.set_input("x", std::vector<float>(12));
  graph.set_state("rows", 4);
  expect_error(ErrorCode::extent_out_of_range, {"'rows'", "(4)", "'x'", "3 rows"},
               [&] { graph.launch(); });
  graph.set_state("rows", 3);
  graph.launch();
  EXPECT_EQ(graph.read("y").size(), 12U);
}

TEST_P(ExtentErrors, APartOfARowIsRefused) {
  CapturedGraph graph = doubled();
  expect_error(ErrorCode::size_mismatch, {"'x'", "up to 8", "(20) bytes"},
               [&] { graph.set_input("x", std::vector<float>(5)); });
  expect_error(ErrorCode::extent_out_of_range, {"'x'", "0 to 8 rows", "(9)"},
               [&] { graph.set_input("x", std::vector<float>(36)); });
}

TEST_P(ExtentErrors, ADirectSessionIsSubmittedWithTheRowsItBeganWith) {
  auto s = begin({{"rows", 8}}, false);
  const Tensor x = rows_by_4(s);
  s.output("y", add(s, x, x));
  state_.set("rows", 2);
  expect_error(ErrorCode::extent_out_of_range, {"'rows'", "(2)", "was 1"}, [&] { s.finish(); });
}

TEST_P(ExtentErrors, FewerRowsAreRefusedBehindTheFirstPartOfADirectSessionToo) {
  state_.set("rows", 5);
  auto s = executor_.begin({.state = state_, .extents = {{"rows", 8}}, .ops_per_submit = 1});
  const Tensor a = s.input("a", {s.extent("rows"), 4}, std::vector<float>(20));
  (void)add(s, a, a);
  expect_error(ErrorCode::extent_out_of_range, {"'rows'", "(5)", "'b'", "3 rows"}, [&] {
    (void)s.input("b", {s.extent("rows"), 4}, std::vector<float>(12));
  });
}

TEST_P(ExtentErrors, FieldsThatAreNoNumbersOfTheHostAreRefused) {
  for (const auto& [field, is] : {std::pair{"pos", "carried i32"},
                                  {"heat", "host f32"},
                                  {"depth", "no field; its fields are: rows, others, heat, pos"}}) {
    expect_error(ErrorCode::invalid_argument, {field, is}, [&, &name = field] {
      begin({{name, 8}});
    });
  }
}

TEST_P(ExtentErrors, ASessionWithoutStateHasNone) {
  expect_error(ErrorCode::invalid_argument, {"(rows)", "no field", "none"}, [&] {
    executor_.begin_recorded({.extents = {{"rows", 8}}});
  });
}

TEST_P(ExtentErrors, BucketsHaveLimits) {
  for (const std::int64_t max : {std::int64_t{0}, std::int64_t{1} << 31U}) {
    expect_error(ErrorCode::invalid_argument,
                 {"'rows'", "(" + std::to_string(max) + ")", "1 to 2^31 - 1"}, [&] {
                   begin({{"rows", max}});
                 });
  }
}

TEST_P(ExtentErrors, AFieldHasOneBucket) {
  expect_error(ErrorCode::invalid_argument, {"'rows'", "twice", "(8)", "16"}, [&] {
    begin({{"rows", 8}, {"rows", 16}});
  });
}

TEST_P(ExtentErrors, AnExtentThatTheSessionDidNotBeginWithIsUnknown) {
  auto s = begin({{"rows", 8}});
  expect_error(ErrorCode::unknown_name, {"(others)", "extents are: rows"},
               [&] { (void)s.extent("others"); });
}

TEST_P(ExtentErrors, OnlyTheFirstDimensionHasAnExtent) {
  expect_refused({"first dimension", "(1)", "up to 8"}, [](GraphSession& s) {
    (void)s.input("x", {4, s.extent("rows")}, std::vector<float>(4));
  });
}

TEST_P(ExtentErrors, OperandsHaveOneExtent) {
  expect_refused({"add", "one extent"},
                 [this](GraphSession& s) { (void)add(s, rows_by_4(s), rows_by_4(s, "others")); });
}

TEST_P(ExtentErrors, ARowThatFollowsAnExtentIsRefusedWhereTheFirstOperandDoesNot) {
  expect_refused({"add", "first operand"}, [this](GraphSession& s) {
    (void)add(s, s.input("x", {8, 4}, std::vector<float>(32)), rows_by_4(s));
  });
}

TEST_P(ExtentErrors, ViewsKeepTheFirstDimension) {
  expect_refused({"reshape", "as it is"},
                 [this](GraphSession& s) { (void)reshape(s, rows_by_4(s), {32}); });
  expect_refused({"reshape", "as it is"}, [this](GraphSession& s) {
    (void)reshape(s, rows_by_4(s), {s.extent("others"), 4});
  });
  expect_refused({"permute", "where it is"}, [this](GraphSession& s) {
    (void)permute(s, rows_by_4(s), {1, 0});
  });
  expect_refused({"slice", "get_rows"},
                 [this](GraphSession& s) { (void)slice(s, rows_by_4(s), 0, 0, 1); });
}

TEST_P(ExtentErrors, OpsThatMixRowsTakeNone) {
  expect_refused({"rms_norm", "for a vector"}, [](GraphSession& s) {
    (void)rms_norm(s, s.input("x", {s.extent("rows")}, std::vector<float>(1)), {});
  });
  expect_refused({"matmul", "fixed number of rows"}, [this](GraphSession& s) {
    const Tensor x = rows_by_4(s);
    (void)matmul(s, x, x);
  });
  expect_refused({"matmul", "all matrices"}, [this](GraphSession& s) {
    (void)matmul(s, reshape(s, rows_by_4(s), {s.extent("rows"), 1, 4}),
                 s.input("w", {2, 3, 4}, std::vector<float>(24)));
  });
  expect_refused({"host_step", "takes no extent"}, [this](GraphSession& s) {
    host_step(s, "log", {rows_by_4(s)}, {}, [](HostStepCall&) {});
  });
}

TEST_P(ExtentErrors, HostStepsAreRefusedBesideThem) {
  expect_refused({"'log'", "(rows)", "0 rows"}, [](GraphSession& s) {
    host_step(s, "log", {s.input("x", {1}, std::vector<float>(1))}, {}, [](HostStepCall&) {});
  });
}

TEST_P(ExtentErrors, TensorsOfADeviceHaveFixedShapes) {
  expect_refused({"'table'", "fixed shapes"}, [this](GraphSession& s) {
    (void)device_.zeros({s.extent("rows"), 4}, DType::f32, "table");
  });
}

}  // namespace
}  // namespace reprise::testing
