// Passes: what they change, what they must not change, and what they say about it.
#include <algorithm>

#include "framework/core/op.h"
#include "framework/core/record.h"
#include "framework/graph/edges.h"
#include "framework/graph/memory_plan.h"
#include "framework/ops/fusions.h"
#include "reprise/session/partial_run.h"
#include "tests/graph/pass_sets.h"
#include "tests/graph/plan_of.h"

namespace reprise::testing {
namespace {

/// The recorded graph of a session that is finished without running.
CapturedGraph graph_of(GraphSession& session, const PassOptions& passes = PassOptions::none()) {
  return session.finish({.passes = passes, .run = false}).graph;
}

/// Of the passes; those about barriers and memory come after them.
std::vector<std::string> decisions(const CapturedGraph& graph) {
  std::vector<std::string> list;
  const auto& all = graph.plan().decisions;
  for (const PassDecision& d : std::span(all).first(all.size() - 2)) {
    const auto& nodes = graph.graph().nodes;
    list.push_back(std::string(d.pass) + " " + std::string(d.kind) + " " +
                   (d.node == kNoIndex ? "graph" : std::string(nodes[d.node].op->name)) +
                   (d.applied ? "" : " not") + ": " + d.reason);
  }
  return list;
}

std::vector<std::string> running_ops(const CapturedGraph& graph) {
  std::vector<std::string> ops;
  for (const std::uint32_t n : running_order(graph.plan())) {
    ops.emplace_back(graph.graph().nodes[n].op->name);
  }
  return ops;
}

// What the library has no op for: memory that is written and not read before.
constexpr Operand kOverwriteOperands[] = {{"to", Access::write}, {"from", Access::read}};

void lower_overwrite(const BoundCall& call, const DeviceTraits& /*traits*/, StepList& steps) {
  const BoundTensor &to = call.tensors[0], &from = call.tensors[1];
  const std::uint64_t bytes = from.spec->bytes();
  steps.copy(call.node, {.pool = from.storage, .offset = from.offset, .bytes = bytes},
             {.pool = to.storage, .access = Access::write, .offset = to.offset, .bytes = bytes});
}

const OpDef kOverwrite{.name = "overwrite",
                       .operands = kOverwriteOperands,
                       .infer = [](const OpCall&) { return Outputs(); },
                       .cost = [](const BoundCall& call) { return streaming_cost(call, 0); },
                       .lower = lower_overwrite};

void overwrite(Site site, const Tensor& to, const Tensor& from) {
  record_in_place(site, kOverwrite, {to, from}, std::uint32_t{0});
}

class Passes : public ::testing::Test {
 protected:
  using List = std::vector<std::string>;
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  GraphSession s_ = executor_.begin_recorded();
  const std::vector<float> values_ = std::vector<float>(16, 0.5F);
  const Tensor x_ = s_.input("x", {2, 8}, values_);
};

TEST_F(Passes, DeadNodesAreLeftOutWithAllThatOnlyTheyRead) {
  const Tensor dead = mul(s_, x_, x_);
  (void)add(s_, dead, x_);
  s_.output("y", silu_mul(s_, x_, x_));
  const CapturedGraph graph = graph_of(s_, {true, false, false});
  EXPECT_EQ(running_ops(graph), (List{"silu_mul"}));
  EXPECT_EQ(decisions(graph), (List{"dead_nodes removed add: nobody reads its results",
                                    "dead_nodes removed mul: nobody reads its results"}));
  EXPECT_EQ(graph.graph().nodes.size(), 3U);
}

TEST_F(Passes, NodesThatWritePersistentTensorsAreNotDead) {
  const Tensor table = device_.zeros({4, 8}, DType::f32, "table");
  set_rows(s_, table, mul(s_, x_, x_), {.position = 1});
  EXPECT_EQ(running_ops(graph_of(s_, {true, false, false})), (List{"mul", "set_rows"}));
}

TEST_F(Passes, PlansSayWhatBarriersAndMemoryCameTo) {
  const Tensor a = mul(s_, x_, x_);
  const Tensor b = rms_norm(s_, a, {});
  const Tensor c = rms_norm(s_, b, {});
  s_.output("y", rms_norm(s_, c, {}));
  const CapturedGraph graph = graph_of(s_, PassOptions::exact());
  const auto& all = graph.plan().decisions;
  EXPECT_EQ(all[all.size() - 2].reason, "(3) barriers instead of one between every two steps (3)");
  EXPECT_FALSE(all[all.size() - 2].applied);
  EXPECT_EQ(all.back().reason,
            "(768) bytes instead of (1280) without reuse; (768) are alive at once");
  EXPECT_TRUE(all.back().applied);
}

TEST_F(Passes, PlansWithoutPassesSayNothing) {
  s_.output("y", add(s_, x_, x_));
  EXPECT_TRUE(graph_of(s_).plan().decisions.empty());
}

TEST_F(Passes, HostStepsAreNotDead) {
  host_step(s_, "log", {mul(s_, x_, x_)}, {}, [](HostStepCall&) {});
  EXPECT_EQ(running_ops(graph_of(s_, {true, false, false})), (List{"mul", "host_step"}));
}

TEST_F(Passes, NodesThatWriteWhatTheNextIterationReadsAreNotDead) {
  const StateBlock state(device_, StateLayout().host("row"));
  const Tensor patch = device_.zeros({1, 8}, DType::f32, "patch");
  for (const std::uint32_t iterations : {1U, 2U}) {
    GraphSession s = executor_.begin_recorded({.state = state, .max_iterations = iterations});
    const Tensor x = s.input("x", {2, 8}, values_);
    s.output("y", mul(s, x, x));
    set_rows(s, x, patch, {.position = 1});
    EXPECT_EQ(running_ops(graph_of(s, {true, false, false})),
              iterations == 1 ? List{"mul"} : (List{"plan", "mul", "set_rows", "collect"}));
  }
}

TEST_F(Passes, ReorderedNodesShareABarrier) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("a", add(s_, a, x_));
  const Tensor b = silu_mul(s_, x_, x_);
  s_.output("b", add(s_, b, x_));
  const CapturedGraph graph = graph_of(s_, {false, true, false});
  EXPECT_EQ(running_ops(graph), (List{"mul", "silu_mul", "add", "add"}));
  EXPECT_EQ(graph.plan().barriers.size(), 1U);
  EXPECT_EQ(decisions(graph),
            (List{"reorder order graph: (1) barriers instead of (2)",
                  "reorder moved silu_mul: it need not wait where it was recorded"}));
}

TEST_F(Passes, NothingMovesAcrossAHostStep) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("a", add(s_, a, x_));
  host_step(s_, "log", {}, {}, [](HostStepCall&) {});
  const Tensor b = silu_mul(s_, x_, x_);
  s_.output("b", add(s_, b, x_));
  EXPECT_EQ(running_ops(graph_of(s_, {false, true, false})),
            (List{"mul", "add", "host_step", "silu_mul", "add"}));
}

TEST_F(Passes, NodesThatFollowEachOtherBecauseOfARemovedOneKeepTheirOrder) {
  const Tensor table = device_.zeros({2, 8}, DType::f32, "table");
  overwrite(s_, table, mul(s_, x_, x_));  // nodes 0 and 1
  (void)mul(s_, table, x_);               // node 2 reads the first value, and nobody reads it
  overwrite(s_, table, x_);               // node 3
  const Tensor b = silu_mul(s_, x_, x_);
  s_.output("b", add(s_, b, x_));
  const CapturedGraph graph = graph_of(s_, {true, true, false});
  const std::vector<std::uint32_t>& ranks = graph.plan().ranks;
  EXPECT_EQ(ranks[2], kNoIndex);
  EXPECT_LT(ranks[1], ranks[3]);
}

TEST_F(Passes, AResultTakesTheMemoryOfAnOperandThatEndsThere) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("y", add(s_, a, x_));
  const CapturedGraph graph = graph_of(s_, {false, false, true});
  EXPECT_EQ(decisions(graph), (List{"in_place shared mul not: inputs and outputs of the graph stay",
                                    "in_place shared add: its operand ends here"}));
  const ExecutionPlan& plan = graph.plan();
  EXPECT_EQ(plan.arena_bytes, 2 * kArenaAlignment);  // the input and one more
}

TEST_F(Passes, AnOperandThatIsReadLaterKeepsItsMemory) {
  const Tensor a = mul(s_, x_, x_);
  const Tensor b = add(s_, a, x_);
  s_.output("y", add(s_, b, a));
  const CapturedGraph graph = graph_of(s_, {false, false, true});
  EXPECT_EQ(decisions(graph)[1], "in_place shared add not: a later step reads the operand");
  EXPECT_EQ(decisions(graph)[2], "in_place shared add: its operand ends here");
}

TEST_F(Passes, AnOperandThatAnotherReadsInTheSameEpochKeepsItsMemory) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("n", rms_norm(s_, a, {}));
  s_.output("y", add(s_, a, x_));
  const CapturedGraph graph = graph_of(s_, {false, false, true});
  EXPECT_EQ(decisions(graph).back(),
            "in_place shared add not: another step reads it without a barrier between them");
  EXPECT_EQ(graph.plan().barriers.size(), 1U);
}

TEST_F(Passes, OperandsUsedTwiceByAStepKeepTheirMemory) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("y", add(s_, a, a));
  EXPECT_EQ(decisions(graph_of(s_, {false, false, true})).back(),
            "in_place shared add not: the step reads the operand in another way too");
}

TEST_F(Passes, AnOperandThatIsAPartOfItsMemoryKeepsIt) {
  const Tensor a = mul(s_, x_, x_);
  const Tensor row = slice(s_, x_, 0, 0, 1);
  s_.output("y", add(s_, slice(s_, a, 0, 1, 1), row));
  EXPECT_EQ(decisions(graph_of(s_, {false, false, true})).back(),
            "in_place shared add not: they are not the same bytes, each alone in its memory");
}

TEST_F(Passes, AnOperandInAnotherShapeGivesItsMemory) {
  const Tensor a = reshape(s_, mul(s_, x_, x_), {4, 4});
  s_.output("y", add(s_, a, reshape(s_, x_, {4, 4})));
  EXPECT_EQ(decisions(graph_of(s_, {false, false, true})).back(),
            "in_place shared add: its operand ends here");
}

TEST_F(Passes, AnOperandOfWhichAPartIsAnOutputKeepsItsMemory) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("part", slice(s_, a, 0, 1, 1));
  s_.output("y", add(s_, a, x_));
  EXPECT_EQ(decisions(graph_of(s_, {false, false, true})).back(),
            "in_place shared add not: inputs and outputs of the graph stay");
}

TEST_F(Passes, ANodeThatWasRemovedDoesNotRunInPart) {
  (void)mul(s_, x_, x_);
  s_.output("y", add(s_, x_, x_));
  CapturedGraph graph = graph_of(s_, {true, false, false});
  expect_error(ErrorCode::invalid_argument, {"does not run", "mul", "a pass removed it"},
               [&] { (void)graph.run_node(0); });
  EXPECT_EQ(graph.run_prefix(1).read(1, 0), std::vector<float>(16, 1.0F));
}

bool in_one_call(const ExecutionPlan& plan, const Edge& edge) {
  return std::ranges::any_of(plan.fused, [&](const auto& fused) {
    const auto& members = fused.second.members;
    return std::ranges::count(members, edge.src) == 1 && std::ranges::count(members, edge.dst) == 1;
  });
}

TEST(PassesOnRandomGraphs, KeepTheOrderOfAllThatDepends) {
  DeviceTraits traits;
  for_random_graphs(300, 100, [&](const ComputeGraph& graph) {
    traits.runs_on_host = !traits.runs_on_host;  // there are more fusions
    const std::vector<Edge> edges = edges_of(graph);
    for (const NamedPasses& passes : kPassSets) {
      const ExecutionPlan plan =
          plan_of(graph, traits, {ReuseRule::epoch, passes.options, fusion_rules()});
      for (const Edge& edge : edges) {
        const std::uint32_t src = plan.ranks[edge.src], dst = plan.ranks[edge.dst];
        EXPECT_TRUE(src == kNoIndex || dst == kNoIndex || src < dst || in_one_call(plan, edge))
            << passes.name << ": " << edge.src << " -> " << edge.dst;
      }
    }
  });
}

TEST(PassesOnRandomGraphs, AddNoBarriersAndNoMemoryInPlace) {
  for_random_graphs(300, 100, [](const ComputeGraph& graph) {
    const ExecutionPlan plain = plan_of(graph, {}, {ReuseRule::epoch, PassOptions::none()});
    const ExecutionPlan shared = plan_of(graph, {}, {ReuseRule::epoch, {false, false, true}});
    EXPECT_EQ(shared.barriers.size(), plain.barriers.size());
    EXPECT_LE(shared.live_peak_bytes, plain.live_peak_bytes);
    EXPECT_LE(shared.naive_bytes, plain.naive_bytes);
  });
}

TEST(PassesOnRandomGraphs, NeverAddBarriers) {
  DeviceTraits traits;
  traits.binding_alignment = 4;  // wider bindings overlap where tensors do not
  for_random_graphs(300, 100, [&](const ComputeGraph& graph) {
    const std::size_t plain = plan_of(graph, traits).barriers.size();
    for (const NamedPasses& passes : kPassSets) {
      EXPECT_LE(plan_of(graph, traits, {ReuseRule::epoch, passes.options}).barriers.size(), plain)
          << passes.name;
    }
  });
}

}  // namespace
}  // namespace reprise::testing
