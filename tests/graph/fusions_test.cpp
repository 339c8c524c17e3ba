// Fusions: what each rule makes of two nodes, every reason against it, and what partial runs see.
#include <algorithm>

#include "framework/core/fusion.h"
#include "framework/core/op.h"
#include "reprise/ops/op_named.h"
#include "reprise/session/partial_run.h"
#include "tests/graph/fusion_passes.h"
#include "tests/graph/plan_of.h"
#include "tests/ops/kernel_devices.h"

namespace reprise::testing {
namespace {

constexpr PassOptions kFuse{false, false, false, true, false};

class Fusions : public ::testing::Test {
 protected:
  using List = std::vector<std::string>;

  Tensor input(const std::string& name, const Shape& shape) {
    return s_.input(name, shape, std::vector<float>(static_cast<std::size_t>(shape.elements()), 1));
  }
  CapturedGraph finish(const PassOptions& passes = kFuse) {
    return s_.finish({.passes = passes, .run = false}).graph;
  }
  /// What was decided about fusions.
  static List decisions(const CapturedGraph& graph) {
    List list;
    for (const PassDecision& d : graph.plan().decisions) {
      if (d.pass == "fuse") {
        list.push_back(std::string(d.kind) + " at " + std::to_string(d.node) +
                       (d.applied ? ": " : " not: ") + d.reason);
      }
    }
    return list;
  }
  static List steps(const CapturedGraph& graph) {
    const StepList& all = graph.plan().steps;
    List ops;
    for (std::size_t s = 0; s < all.size(); ++s) {
      ops.emplace_back(all[s].op->name);
    }
    return ops;
  }
  /// Fuses with all that is needed, and expects this one decision and nothing fused.
  void expect_refused(const std::string& decision) {
    const CapturedGraph graph = finish(PassOptions{false, false, false, true, true});
    EXPECT_EQ(decisions(graph), (List{decision}));
    EXPECT_TRUE(graph.plan().fused.empty());
  }

  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  GraphSession s_ = executor_.begin_recorded();
  const Tensor x_ = input("x", {2, 8});
  const Tensor w_ = device_.zeros({8, 8}, DType::f32, "w");
  const Tensor cache_ = device_.zeros({6, 2, 4}, DType::f32, "cache");
};

TEST_F(Fusions, AProductTakesTheSumThatFollows) {
  s_.output("y", add(s_, x_, matmul(s_, x_, w_)));
  const CapturedGraph graph = finish();
  EXPECT_EQ(decisions(graph), (List{"residual at 1: one call with matmul (0)"}));
  EXPECT_EQ(steps(graph), (List{"matmul"}));
  EXPECT_EQ(graph.graph().nodes.size(), 2U);
  EXPECT_EQ(graph.plan().ranks, (std::vector<std::uint32_t>{0, 0}));
}

TEST_F(Fusions, TheProductMayBeTheFirstOperandOfTheSum) {
  s_.output("y", add(s_, matmul(s_, x_, w_), x_));
  EXPECT_EQ(steps(finish()), (List{"matmul"}));
}

TEST_F(Fusions, AProductTakesTheBiasThatFollows) {
  const Tensor y = add(s_, matmul(s_, x_, w_), device_.zeros({8}, DType::f32, "bias"));
  s_.output("z", add(s_, matmul(s_, y, w_), device_.zeros({1, 8}, DType::f32, "row")));
  const CapturedGraph graph = finish();
  EXPECT_EQ(decisions(graph),
            (List{"bias at 1: one call with matmul (0)", "bias at 3: one call with matmul (2)"}));
  EXPECT_EQ(steps(graph), (List{"matmul", "matmul"}));
}

TEST_F(Fusions, ABiasMayBeTheFirstOperandOfASumOfOneRow) {
  const Tensor bias = device_.zeros({8}, DType::f32, "bias");
  s_.output("y", add(s_, bias, matmul(s_, slice(s_, x_, 0, 1, 1), w_)));
  EXPECT_EQ(decisions(finish()), (List{"bias at 1: one call with matmul (0)"}));
}

TEST_F(Fusions, ProductsOfOneTensorAreOneCallInThePlaceOfTheFirst) {
  const Tensor a = matmul(s_, x_, w_);
  const Tensor between = mul(s_, a, x_);
  const Tensor b = matmul(s_, x_, w_);
  const Tensor c = matmul(s_, x_, w_);
  s_.output("y", silu_mul(s_, mul(s_, b, between), c));
  const CapturedGraph graph = finish();
  EXPECT_EQ(decisions(graph), (List{"matmul_group at 2: one call with matmul (0)",
                                    "matmul_group at 3: one call with matmul (0)"}));
  EXPECT_EQ(steps(graph), (List{"matmul_group", "mul", "mul", "silu_mul"}));
  EXPECT_EQ(graph.plan().fused.at(0).members, (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST_F(Fusions, AFourthProductBeginsAnotherGroup) {
  for (int i = 0; i < 5; ++i) {
    s_.output("y" + std::to_string(i), matmul(s_, x_, w_));
  }
  EXPECT_EQ(steps(finish()), (List{"matmul_group", "matmul_group"}));
}

TEST_F(Fusions, AProductThatTookASumIsInNoGroup) {
  s_.output("y", add(s_, x_, matmul(s_, x_, w_)));
  s_.output("z", matmul(s_, x_, w_));
  const CapturedGraph graph = finish();
  EXPECT_EQ(decisions(graph), (List{"residual at 1: one call with matmul (0)",
                                    "matmul_group at 2 not: one of them has a residual"}));
}

TEST_F(Fusions, ANormTakesTheSumBeforeItWhichOthersMayRead) {
  const Tensor z = add(s_, x_, x_);
  s_.output("n", rms_norm(s_, z, {}));
  s_.output("z", z);
  s_.output("y", mul(s_, z, x_));
  const CapturedGraph graph = finish();
  EXPECT_EQ(decisions(graph), (List{"add_rms_norm at 1: one call with add (0)"}));
  EXPECT_EQ(steps(graph), (List{"add_rms_norm", "mul"}));
}

TEST_F(Fusions, AProductComesBeforeANormWhereBothCouldTakeASum) {
  s_.output("n", rms_norm(s_, add(s_, x_, matmul(s_, x_, w_)), {}));
  EXPECT_EQ(steps(finish()), (List{"matmul", "rms_norm"}));
}

TEST_F(Fusions, RotatedValuesGoStraightIntoTheTable) {
  for (const DType dtype : {DType::f32, DType::f16}) {
    const Tensor cache = device_.zeros({6, 2, 4}, dtype, "cache");
    set_rows(s_, cache, rope(s_, reshape(s_, x_, {2, 2, 4})), {.position = 1});
  }
  EXPECT_EQ(steps(finish()), (List{"rope_set_rows", "rope_set_rows"}));
}

TEST_F(Fusions, ANormTakesItsWeightWhereResultsMayRoundOtherwise) {
  s_.output("y", mul(s_, rms_norm(s_, x_, {}), device_.zeros({1, 8}, DType::f32, "weight")));
  const CapturedGraph graph = finish(PassOptions::approximate());
  EXPECT_EQ(decisions(graph), (List{"norm_weight at 1: one call with rms_norm (0)"}));
  EXPECT_EQ(steps(graph), (List{"rms_norm"}));
}

TEST_F(Fusions, OnlyExactOnesBelongToTheExactPasses) {
  s_.output("y", mul(s_, rms_norm(s_, x_, {}), x_));
  EXPECT_EQ(decisions(finish(PassOptions::exact())), List());
}

TEST_F(Fusions, WhatWasFusedIsFusedAgain) {
  const Tensor weight = device_.zeros({8}, DType::f32, "weight");
  s_.output("y", mul(s_, rms_norm(s_, add(s_, x_, x_), {}), weight));
  const CapturedGraph graph = finish(PassOptions::approximate());
  EXPECT_EQ(steps(graph), (List{"add_rms_norm"}));
  EXPECT_EQ(graph.plan().fused.at(2).members, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_F(Fusions, AFusedCallTakesMemoryInPlaceByItsOwnOperands) {
  const Tensor a = mul(s_, x_, x_);
  const Tensor z = add(s_, a, x_);
  s_.output("n", rms_norm(s_, z, {}));
  s_.output("y", mul(s_, z, x_));
  const CapturedGraph graph = finish({false, false, true, true, false});
  const auto& decided = graph.plan().decisions;
  const auto it = std::ranges::find_if(
      decided, [](const PassDecision& d) { return d.pass == "in_place" && d.node == 2; });
  ASSERT_NE(it, decided.end());
  EXPECT_TRUE(it->applied) << it->reason;
}

TEST_F(Fusions, NeedTheProductForNobodyElse) {
  const Tensor t = matmul(s_, x_, w_);
  s_.output("y", add(s_, x_, t));
  s_.output("z", mul(s_, t, x_));
  expect_refused("residual at 1 not: another node reads the result of matmul");
}

TEST_F(Fusions, LeaveOutputsOfTheGraph) {
  const Tensor t = matmul(s_, x_, w_);
  s_.output("y", add(s_, x_, t));
  s_.output("t", t);
  expect_refused("residual at 1 not: the result of matmul is an output of the graph");
}

TEST_F(Fusions, LeaveAResultThatIsReadTwiceByOneNode) {
  const Tensor z = add(s_, reshape(s_, x_, {16}), reshape(s_, x_, {16}));
  s_.output("y", rms_norm(s_, z, z));
  expect_refused("add_rms_norm at 1 not: it reads the result of add in another way too");
}

TEST_F(Fusions, LeaveAResultThatIsReadInPart) {
  const Tensor rotated = rope(s_, reshape(s_, slice(s_, x_, 0, 0, 1), {1, 2, 4}));
  set_rows(s_, device_.zeros({6, 4}, DType::f32, "table"), slice(s_, rotated, 1, 1, 1),
           {.position = 0});
  expect_refused(
      "rope_set_rows at 1 not: it reads a part of the result of rope, or in another order");
}

TEST_F(Fusions, LeaveAResultThatIsReadInAnotherOrder) {
  const Tensor rotated = rope(s_, reshape(s_, x_, {2, 2, 4}));
  set_rows(s_, cache_, permute(s_, rotated, {1, 0, 2}), {.position = 0});
  expect_refused(
      "rope_set_rows at 1 not: it reads a part of the result of rope, or in another order");
}

TEST_F(Fusions, LeaveAProductWithAResidual) {
  s_.output("y", add(s_, x_, matmul(s_, x_, w_, x_)));
  expect_refused("residual at 1 not: the product has a residual already");
}

TEST_F(Fusions, LeaveABiasOfAProductWithAResidual) {
  s_.output("y", add(s_, matmul(s_, x_, w_, x_), device_.zeros({8}, DType::f32, "bias")));
  expect_refused("bias at 1 not: the product has a residual already");
}

TEST_F(Fusions, LeaveABiasThatRepeatsInOneRowOfAProduct) {
  const Tensor flat = reshape(s_, matmul(s_, x_, w_), {16});
  s_.output("y", add(s_, flat, device_.zeros({8}, DType::f32, "bias")));
  expect_refused("bias at 1 not: add reads the product in another shape");
}

TEST_F(Fusions, LeaveABiasOfAProductInMoreDimensions) {
  const Tensor deep = reshape(s_, matmul(s_, x_, w_), {2, 1, 8});
  s_.output("y", add(s_, deep, device_.zeros({8}, DType::f32, "bias")));
  expect_refused("bias at 1 not: add reads the product in another shape");
}

TEST_F(Fusions, LeaveSumsThatRepeatSeveralRows) {
  s_.output("y", add(s_, matmul(s_, input("x4", {4, 8}), w_), x_));
  expect_refused("residual at 1 not: the operands of add are not both of the shape of the product");
}

TEST_F(Fusions, LeaveStridedResiduals) {
  const Tensor residual = permute(s_, input("r", {8, 2}), {1, 0});
  s_.output("y", add(s_, residual, matmul(s_, x_, w_)));
  expect_refused("residual at 1 not: matmul takes no strides as those of its residual");
}

TEST_F(Fusions, DoNotMoveAReadBehindAWrite) {
  const Tensor a = mul(s_, x_, x_);
  const Tensor t = matmul(s_, a, w_);
  set_rows(s_, a, device_.zeros({1, 8}, DType::f32, "row"), {.position = 0});
  s_.output("y", add(s_, x_, t));
  expect_refused("residual at 3 not: set_rows (2) between them writes what matmul reads");
}

TEST_F(Fusions, DoNotMoveAReadBehindAWriteThroughAView) {
  const Tensor table = device_.zeros({4, 8}, DType::f32, "table");
  const Tensor t = matmul(s_, slice(s_, table, 0, 1, 2), w_);
  set_rows(s_, slice(s_, table, 0, 2, 2), device_.zeros({1, 8}, DType::f32, "row"),
           {.position = 0});
  s_.output("y", add(s_, x_, t));
  expect_refused("residual at 2 not: set_rows (1) between them writes what matmul reads");
}

TEST_F(Fusions, MoveAReadBehindAWriteOfOtherBytes) {
  const Tensor table = device_.zeros({4, 8}, DType::f32, "table");
  const Tensor t = matmul(s_, slice(s_, table, 0, 0, 2), w_);
  set_rows(s_, slice(s_, table, 0, 2, 2), device_.zeros({1, 8}, DType::f32, "row"),
           {.position = 0});
  s_.output("y", add(s_, x_, t));
  EXPECT_EQ(steps(finish()), (List{"set_rows", "matmul"}));
}

TEST_F(Fusions, DoNotMoveAWriteBehindARead) {
  const Tensor z = add(s_, x_, x_);
  s_.output("y", mul(s_, z, x_));
  s_.output("n", rms_norm(s_, z, {}));
  expect_refused("add_rms_norm at 2 not: mul (1) between them reads what add writes");
}

TEST_F(Fusions, DoNotReachAcrossAHostStep) {
  const Tensor t = matmul(s_, x_, w_);
  host_step(s_, "log", {}, {}, [](HostStepCall&) {});
  s_.output("y", add(s_, x_, t));
  expect_refused(
      "residual at 2 not: a host step, or what decides about iterations, is between them");
}

TEST_F(Fusions, DoNotWriteWhatTheyRead) {
  const Tensor keys = reshape(s_, slice(s_, cache_, 0, 3, 2), {2, 2, 4});
  set_rows(s_, cache_, rope(s_, keys), {.position = 0});
  expect_refused("rope_set_rows at 1 not: rope_set_rows would write what it reads");
}

TEST_F(Fusions, LeaveANormOfASumThatRepeatsARow) {
  s_.output("n", rms_norm(s_, add(s_, x_, device_.zeros({8}, DType::f32, "bias")), {}));
  expect_refused("add_rms_norm at 1 not: the operands of add are of different shapes");
}

TEST_F(Fusions, LeaveANormOverOtherRows) {
  s_.output("n", rms_norm(s_, reshape(s_, add(s_, x_, x_), {4, 4}), {}));
  expect_refused("add_rms_norm at 1 not: rms_norm reads the sum in another shape");
}

TEST_F(Fusions, LeaveOtherRowsOfRotatedValues) {
  const Tensor rotated = reshape(s_, rope(s_, reshape(s_, x_, {2, 2, 4})), {4, 4});
  set_rows(s_, device_.zeros({6, 4}, DType::f32, "table"), rotated, {.position = 0});
  expect_refused("rope_set_rows at 1 not: set_rows reads the rotated values in other rows");
}

TEST_F(Fusions, LeaveRotationsByMoreThanAngles) {
  set_rows(s_, cache_, rope(s_, reshape(s_, x_, {2, 2, 4}), {.magnitude = 2}), {.position = 0});
  expect_refused("rope_set_rows at 1 not: the rotation has sections, extrapolation or a magnitude");
}

TEST_F(Fusions, LeaveANormThatHasAWeight) {
  const Tensor weight = device_.zeros({8}, DType::f32, "weight");
  s_.output("y", mul(s_, rms_norm(s_, x_, weight), weight));
  expect_refused("norm_weight at 1 not: the norm has a weight already");
}

TEST_F(Fusions, LeaveAProductOfOtherRowsOfANorm) {
  s_.output("y", mul(s_, reshape(s_, rms_norm(s_, x_, {}), {4, 4}),
                     device_.zeros({4}, DType::f32, "weight")));
  expect_refused("norm_weight at 1 not: mul reads the norm in another shape");
}

TEST_F(Fusions, LeaveANormTimesMoreThanARow) {
  s_.output("y", mul(s_, rms_norm(s_, x_, {}), x_));
  expect_refused(
      "norm_weight at 1 not: the other operand of mul is not one row of the norm's length");
}

TEST_F(Fusions, LeaveProductsOfOneTensorWithOtherWeights) {
  s_.output("y", matmul(s_, x_, w_));
  s_.output("z", matmul(s_, x_, device_.zeros({8, 8}, DType::f16, "f16")));
  expect_refused("matmul_group at 1 not: their weights are of different dtypes");
}

TEST_F(Fusions, LeaveProductsWithWeightsOfSeveralMatrices) {
  const Tensor x = input("heads", {2, 2, 8});
  s_.output("y", matmul(s_, x, w_));
  s_.output("z", matmul(s_, x, device_.zeros({2, 8, 8}, DType::f32, "w3")));
  expect_refused("matmul_group at 1 not: weights are not matrices with rows");
}

TEST_F(Fusions, LeaveAProductBehindAWriteOfItsInput) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("y", matmul(s_, a, w_));
  set_rows(s_, a, device_.zeros({1, 8}, DType::f32, "row"), {.position = 0});
  s_.output("z", matmul(s_, a, w_));
  expect_refused("matmul_group at 3 not: set_rows (2) between them writes what matmul reads");
}

TEST_F(Fusions, LeaveAProductBehindAWriteOfItsInputThroughAView) {
  const Tensor table = device_.zeros({4, 8}, DType::f32, "table");
  const Tensor a = slice(s_, table, 0, 1, 2);
  s_.output("y", matmul(s_, a, w_));
  set_rows(s_, slice(s_, table, 0, 2, 2), device_.zeros({1, 8}, DType::f32, "row"),
           {.position = 0});
  s_.output("z", matmul(s_, a, w_));
  expect_refused("matmul_group at 2 not: set_rows (1) between them writes what matmul reads");
}

TEST_F(Fusions, LeaveAProductWithWeightsThatANodeWrites) {
  const Tensor w = mul(s_, input("w", {8, 8}), device_.zeros({8}, DType::f32, "scale"));
  s_.output("y", matmul(s_, x_, w_));
  s_.output("z", matmul(s_, x_, w));
  expect_refused("matmul_group at 2 not: a node writes its w");
}

TEST_F(Fusions, LeaveAProductBehindAHostStep) {
  s_.output("y", matmul(s_, x_, w_));
  host_step(s_, "log", {}, {}, [](HostStepCall&) {});
  s_.output("z", matmul(s_, x_, w_));
  expect_refused(
      "matmul_group at 2 not: a host step, or what decides about iterations, is between them");
}

TEST_F(Fusions, LeaveProductsOfOneTensorOnVulkan) {
  const Device device = test_device("vulkan");
  GraphExecutor executor(device);
  GraphSession s = executor.begin_recorded();
  const Tensor x = s.input("x", {1, 8}, std::vector<float>(8, 1));
  const Tensor w = device.zeros({8, 8}, DType::f32, "w");
  s.output("y", matmul(s, x, w));
  s.output("z", matmul(s, x, w));
  const CapturedGraph graph = s.finish({.passes = kFuse, .run = false}).graph;
  EXPECT_EQ(decisions(graph),
            (List{"matmul_group at 1 not: dispatches of their own are as quick on this device"}));
  EXPECT_EQ(steps(graph), (List{"matmul", "matmul"}));
}

TEST_F(Fusions, LeaveProductsThatAreFarApart) {
  s_.output("y", matmul(s_, x_, w_));
  Tensor between = x_;
  for (int i = 0; i < 40; ++i) {
    between = mul(s_, between, x_);
  }
  s_.output("z", add(s_, between, mul(s_, matmul(s_, x_, w_), x_)));
  expect_refused("matmul_group at 41 not: more than (32) nodes lie between them");
}

/// A rule for a sum that reads a gathered row, which no library has.
FusionRule gather_and_add(const OpDef& fused, std::span<const FusedSlot> slots) {
  return {
      .name = "gathered",
      .producer = op_named("get_rows"),
      .consumer = op_named("add"),
      .operand = 0,
      .fused = &fused,
      .slots = slots,
      .refuses = [](const BoundCall&, const BoundCall&,
                    const DeviceTraits&) { return std::string(); },
      .attributes = [](const BoundCall&, const BoundCall&) { return std::vector<std::byte>(8); }};
}
constexpr FusedSlot kGathered[] = {
    {FusedSlot::From::producer, 0}, {FusedSlot::From::consumer, 1}, {FusedSlot::From::consumer, 2}};

TEST_F(Fusions, LeaveDtypesThatTheFusedOpLacks) {
  const Tensor table = device_.zeros({4, 8}, DType::f16, "table");
  s_.output("y", add(s_, get_rows(s_, table, 1), device_.zeros({8}, DType::f32, "bias")));
  const CapturedGraph captured = finish(PassOptions::none());
  const ComputeGraph& graph = captured.graph();
  const FusionRule rules[] = {gather_and_add(*op_named("mul"), kGathered)};
  const ExecutionPlan plan = plan_of(graph, {}, {ReuseRule::epoch, kFuse, {rules, {}}});
  ASSERT_EQ(plan.decisions.size(), 3U);  // barriers and memory follow
  EXPECT_EQ(plan.decisions[0].reason, "mul takes no f16 as x");
}

TEST_F(Fusions, LeaveWhatNoKernelComputes) {
  const Tensor table = device_.zeros({4, 8}, DType::f32, "table");
  s_.output("y", add(s_, get_rows(s_, table, 1), device_.zeros({8}, DType::f32, "bias")));
  OpDef without_kernel = *op_named("add");
  without_kernel.lower = [](const BoundCall&, const DeviceTraits&, StepList&) {
    throw Error(ErrorCode::unsupported, "There is no such kernel.");
  };
  const CapturedGraph captured = finish(PassOptions::none());
  const ComputeGraph& graph = captured.graph();
  const FusionRule rules[] = {gather_and_add(without_kernel, kGathered)};
  const ExecutionPlan plan = plan_of(graph, {}, {ReuseRule::epoch, kFuse, {rules, {}}});
  ASSERT_EQ(plan.decisions.size(), 3U);  // barriers and memory follow
  EXPECT_EQ(plan.decisions[0].reason, "There is no such kernel.");
  EXPECT_EQ(plan.steps.size(), 2U);
}

TEST_F(Fusions, RunInPartAsOneAndTellWhatIsInNoMemory) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("y", add(s_, a, matmul(s_, a, w_)));
  CapturedGraph graph = finish();
  EXPECT_EQ(graph.run_prefix(1).read(2, 0), std::vector<float>(16, 1));  // w is 0
  EXPECT_EQ(graph.run_prefix(1).read(0, 0), std::vector<float>(16, 1));
  expect_error(ErrorCode::invalid_argument, {"is in no memory", "fused with what reads it"},
               [&] { (void)graph.run_prefix(2).read(1, 0); });
}

/// Random passes made of what rules look for, and of what may be in their way.
class FusionResults : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::optional<KernelFamily> family = kernel_family_of(GetParam());
    const std::optional<Device> found = device_with(family ? "vulkan" : GetParam(), family);
    if (!found) {
      GTEST_SKIP() << "This device cannot run these kernels.";
    }
    device_ = found;
  }
  const Device& device() const { return *device_; }
  bool on_vulkan() const { return GetParam() != "cpu" && GetParam() != "reference"; }

 private:
  std::optional<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(On, FusionResults,
                         ::testing::Values("cpu", "reference", "vulkan", "portable", "lanes",
                                           "gpu"),
                         device_param_name);

TEST_P(FusionResults, HaveTheBitsOfTheNodesApart) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  const ExpectNoValidationMessages quiet;
  const Device on = device();
  Rng rng(seed);
  std::map<std::string_view, std::size_t> applied;
  const int graphs = on_vulkan() ? 60 : 600;
  for (int i = 0; i < graphs && !HasFailure(); ++i) {
    const FusionSeeds seeds{rng(), rng(), static_cast<std::size_t>(1 + pick(rng, 25))};
    const bool alone = one_in(rng, 2);
    EXPECT_TRUE(run_fusions(on, seeds, alone ? kFuse : PassOptions::exact(), applied) ==
                run_fusions(on, seeds, PassOptions::none(), applied))
        << "graph " << i;
  }
  for (const std::string_view rule : {"residual", "bias", "add_rms_norm", "rope_set_rows"}) {
    EXPECT_GT(applied[rule], 0U) << rule;
  }
  EXPECT_EQ(applied["matmul_group"] > 0, !on_vulkan());
}

TEST_P(FusionResults, AreWithinTheToleranceOfTheOpsWhereTheyAreApproximate) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  const Device on = device();
  GraphExecutor executor(on);
  const auto run = [&](const PassOptions& passes) {
    Rng rng(seed);
    GraphSession s = executor.begin_recorded();
    const Tensor x =
        s.input("x", {5, 257}, DType::f32, random_bytes(rng, DType::f32, 5 * 257, -1, 1));
    const Tensor w = s.input("w", {257}, DType::f32, random_bytes(rng, DType::f32, 257, 0.5, 1.5));
    s.output("y", mul(s, rms_norm(s, x, {}), w));
    const FinishResult result = s.finish({.passes = passes});
    EXPECT_EQ(result.graph.plan().fused.size(), passes.fuse_approximate ? 1U : 0U);
    return to_doubles(DType::f32, result.read<std::byte>("y"));
  };
  EXPECT_LE(nmse(run(PassOptions::none()), run(PassOptions::approximate())), 1e-11);
}

}  // namespace
}  // namespace reprise::testing
