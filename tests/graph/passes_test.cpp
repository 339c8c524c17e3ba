// Passes: what they change, what they must not change, and what they say about it.
#include <algorithm>

#include "tests/graph/random_graphs.h"

namespace reprise::testing {
namespace {

/// The recorded graph of a session that is finished without running.
CapturedGraph graph_of(GraphSession& session, const PassOptions& passes = PassOptions::none()) {
  return session.finish({.passes = passes, .run = false}).graph;
}

std::vector<std::string> decisions(const CapturedGraph& graph) {
  std::vector<std::string> list;
  for (const PassDecision& d : graph.recorded().plan.decisions) {
    const auto& nodes = graph.recorded().graph.nodes;
    list.push_back(std::string(d.pass) + " " + std::string(d.kind) + " " +
                   (d.node == kNoIndex ? "graph" : std::string(nodes[d.node].op->name)) +
                   (d.applied ? "" : " not") + ": " + d.reason);
  }
  return list;
}

std::vector<std::string> running_ops(const CapturedGraph& graph) {
  std::vector<std::string> ops;
  for (const std::uint32_t n : running_order(graph.recorded().plan)) {
    ops.emplace_back(graph.recorded().graph.nodes[n].op->name);
  }
  return ops;
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
  EXPECT_EQ(graph.recorded().graph.nodes.size(), 3U);
}

TEST_F(Passes, NodesThatWritePersistentTensorsAreNotDead) {
  const Tensor table = device_.zeros({4, 8}, DType::f32, "table");
  set_rows(s_, table, mul(s_, x_, x_), {.position = 1});
  EXPECT_EQ(running_ops(graph_of(s_, {true, false, false})), (List{"mul", "set_rows"}));
}

TEST_F(Passes, HostStepsAreNotDead) {
  host_step(s_, "log", {mul(s_, x_, x_)}, {}, [](HostStepCall&) {});
  EXPECT_EQ(running_ops(graph_of(s_, {true, false, false})), (List{"mul", "host_step"}));
}

TEST_F(Passes, ReorderedNodesShareABarrier) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("a", add(s_, a, x_));
  const Tensor b = silu_mul(s_, x_, x_);
  s_.output("b", add(s_, b, x_));
  const CapturedGraph graph = graph_of(s_, {false, true, false});
  EXPECT_EQ(running_ops(graph), (List{"mul", "silu_mul", "add", "add"}));
  EXPECT_EQ(graph.recorded().plan.barriers.size(), 1U);
  EXPECT_EQ(decisions(graph),
            (List{"reorder order graph: (1) barriers instead of (2)",
                  "reorder moved silu_mul: it need not wait where it was recorded",
                  "reorder moved add: it need not wait where it was recorded"}));
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

TEST_F(Passes, AResultTakesTheMemoryOfAnOperandThatEndsThere) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("y", add(s_, a, x_));
  const CapturedGraph graph = graph_of(s_, {false, false, true});
  EXPECT_EQ(decisions(graph), (List{"in_place shared mul not: inputs and outputs of the graph stay",
                                    "in_place shared add: its operand ends here"}));
  const RecordedGraph& recorded = graph.recorded();
  EXPECT_EQ(recorded.plan.arena_bytes, 2 * kArenaAlignment);  // the input and one more
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
  EXPECT_EQ(graph.recorded().plan.barriers.size(), 1U);
}

TEST_F(Passes, OperandsUsedTwiceByAStepKeepTheirMemory) {
  const Tensor a = mul(s_, x_, x_);
  s_.output("y", add(s_, a, a));
  EXPECT_EQ(decisions(graph_of(s_, {false, false, true})).back(),
            "in_place shared add not: the step reads the operand in another way too");
}

TEST_F(Passes, ANodeThatWasRemovedDoesNotRunInPart) {
  (void)mul(s_, x_, x_);
  s_.output("y", add(s_, x_, x_));
  CapturedGraph graph = graph_of(s_, {true, false, false});
  expect_error(ErrorCode::invalid_argument, {"does not run", "mul", "a pass removed it"},
               [&] { (void)graph.run_node(0); });
  EXPECT_EQ(graph.run_prefix(1).read(1, 0), std::vector<float>(16, 1.0F));
}

constexpr PassOptions kSets[] = {
    {true, false, false}, {false, true, false}, {false, false, true}, PassOptions::exact()};

/// Random passes, each recorded once, with its graph.
template <class F>
void for_random_graphs(int count, std::uint64_t most_ops, F&& f) {
  const std::uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const RandomWeights weights(device, rng());
    GraphSession session = executor.begin_recorded({.state = weights.state});
    RandomPass(session, weights, rng()).record(pick(rng, most_ops));
    f(graph_of(session).recorded().graph);
  }
}

TEST(PassesOnRandomGraphs, KeepTheOrderOfAllThatDepends) {
  for_random_graphs(300, 100, [](const ComputeGraph& graph) {
    const std::vector<Edge> edges = edges_of(graph);
    for (const PassOptions& passes : kSets) {
      const ExecutionPlan plan = make_plan(graph, {}, {ReuseRule::epoch, passes});
      for (const Edge& edge : edges) {
        const std::uint32_t src = plan.ranks[edge.src], dst = plan.ranks[edge.dst];
        EXPECT_TRUE(src == kNoIndex || dst == kNoIndex || src < dst)
            << edge.src << " -> " << edge.dst;
      }
    }
  });
}

TEST(PassesOnRandomGraphs, NeedExactlyTheBarriersThereAre) {
  for_random_graphs(2500, 40, [](const ComputeGraph& graph) {
    for (const PassOptions& passes : kSets) {
      const ExecutionPlan plan = make_plan(graph, {}, {ReuseRule::epoch, passes});
      std::vector<Touches> touches(plan.steps.size());
      for (std::size_t s = 0; s < touches.size(); ++s) {
        touches_of(plan.steps, plan.steps[s], touches[s]);
      }
      const BarrierOracle oracle(touches);
      EXPECT_EQ(oracle.uncovered(plan.barriers), 0U);
      EXPECT_EQ(oracle.removable(plan.barriers), 0U);
    }
  });
}

TEST(PassesOnRandomGraphs, AddNoBarriersAndNoMemoryInPlace) {
  for_random_graphs(300, 100, [](const ComputeGraph& graph) {
    const ExecutionPlan plain = make_plan(graph, {}, {ReuseRule::epoch, PassOptions::none()});
    const ExecutionPlan shared = make_plan(graph, {}, {ReuseRule::epoch, {false, false, true}});
    EXPECT_EQ(shared.barriers.size(), plain.barriers.size());
    EXPECT_LE(shared.live_peak_bytes, plain.live_peak_bytes);
    EXPECT_LE(shared.naive_bytes, plain.naive_bytes);
  });
}

/// What a pass leaves behind: its outputs by name, and the table.
using Left = std::map<std::string, std::vector<std::byte>>;

class PassResults : public ::testing::TestWithParam<std::string> {
 protected:
  struct Seeds {
    std::uint64_t weights, pass;
    std::size_t ops;
  };
  Left run(const Seeds& seeds, bool recorded, const PassOptions& passes) {
    const RandomWeights weights(device_, seeds.weights);
    GraphSession session = recorded ? executor_.begin_recorded({.state = weights.state})
                                    : executor_.begin({.state = weights.state});
    const auto names = RandomPass(session, weights, seeds.pass).record(seeds.ops);
    const FinishResult result = session.finish({.passes = passes});
    Left left{{"table", device_.to_host(weights.table)}};
    for (const std::string& name : names) {
      left[name] = result.read<std::byte>(name);
    }
    return left;
  }
  void expect_equal_bits(int graphs, std::uint64_t most_ops) {
    const std::uint64_t seed = fresh_seed();
    SCOPED_TRACE(seed_note(seed));
    Rng rng(seed);
    for (int i = 0; i < graphs && !HasFailure(); ++i) {
      const Seeds seeds{rng(), rng(), static_cast<std::size_t>(pick(rng, most_ops))};
      const PassOptions& passes = kSets[static_cast<std::size_t>(i) % std::size(kSets)];
      EXPECT_TRUE(run(seeds, true, passes) == run(seeds, false, passes)) << "graph " << i;
    }
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, PassResults, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(PassResults, HaveTheBitsOfADirectSession) {
  expect_equal_bits(GetParam() == "cpu" ? 2000 : 100, 40);
}

}  // namespace
}  // namespace reprise::testing
