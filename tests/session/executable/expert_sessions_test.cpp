// Sessions and checks have experts on a budget too: with cells of their own, or over no memory.
#include <algorithm>
#include <span>

#include "reprise/session/lint.h"
#include "reprise/session/verify.h"
#include "tests/session/executable/experts_test_pass.h"

namespace reprise::testing {
namespace {

class ExpertSessions : public ExpertsTest {
 protected:
  RecordFunction pass(std::int64_t rows) {
    return [this, rows](GraphSession& s) { record(s, rows); };
  }
  static constexpr ExpertMiss kBoth[] = {ExpertMiss::upload, ExpertMiss::cpu};
};
INSTANTIATE_TEST_SUITE_P(On, ExpertSessions, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ExpertSessions, GiveTheBitsOfADeviceThatHasAll) {
  constexpr std::int64_t kRows = 5;
  ExecutableGraph all = graph(setup(kExperts, ExpertMiss::upload), kRows);
  const Floats x = random_rows(kRows);
  const Floats expected = all.run({{"x", x}}).read("y");
  for (const std::int64_t resident : {std::int64_t{1}, std::int64_t{3}, kExperts}) {
    const SessionOptions options{.inputs = {{"x", x}},
                                 .experts = setup(resident, ExpertMiss::upload)};
    GraphSession direct = executor_.begin(options);
    record(direct, kRows);
    EXPECT_EQ(direct.finish().read<float>("y"), expected) << resident << " resident, direct";
    FinishResult recorded = executor_.capture(pass(kRows), options);
    EXPECT_EQ(recorded.read<float>("y"), expected) << resident << " resident, recorded";
    recorded.graph.launch();
    EXPECT_EQ(recorded.graph.read<float>("y"), expected) << resident << " resident, replayed";
  }
}

/// Who moves an expert waits for the segments that use its cell: none of them may wait for the
/// function. With a state block the device stops there, without one each layer has a host step.
TEST_P(ExpertSessions, AreServedBesideHostStepsThatAreAskedToJoin) {
  const auto results = [&](const SessionOptions& options, bool joined,
                           const std::vector<Floats>& inputs) {
    GraphSession s = executor_.begin_recorded(options);
    const auto copied = [&](const Tensor& of) {
      return host_step(s, "copied", {of}, {of.spec()}, [](HostStepCall& call) {
        std::ranges::copy(call.input<float>(0), call.output<float>(0).begin());
      })[0];
    };
    Tensor y = s.input("x", {1, kDim}, inputs[0]);
    for (std::size_t l = 0; l < routers_.size(); ++l) {
      y = copied(layer(s, l, copied(y)).y);
    }
    s.output("y", neg(s, y));
    CapturedGraph graph = s.finish({.run = false, .joined_host_steps = joined}).graph;
    std::vector<Floats> all;
    for (const Floats& x : inputs) {
      graph.set_input("x", x);
      all.push_back(graph.launch_async().read("y"));
    }
    return all;
  };
  const std::vector<Floats> inputs{random_rows(1), random_rows(1), random_rows(1), random_rows(1)};
  const auto expected = results({.experts = setup(kExperts, ExpertMiss::upload)}, true, inputs);
  for (const bool joined : {false, true}) {
    for (const StateBlock& state : {StateBlock(), StateBlock(device_, StateLayout())}) {
      const SessionOptions options{.state = state, .experts = setup(2, ExpertMiss::upload)};
      EXPECT_EQ(results(options, joined, inputs), expected) << (joined ? "joined" : "in segments");
    }
  }
}

TEST_P(ExpertSessions, AreTheSameBitsForVerify) {
  constexpr std::int64_t kRows = 3;
  for (const ExpertMiss misses : kBoth) {
    for (const StateBlock& state : {StateBlock(), StateBlock(device_, StateLayout())}) {
      const SessionOptions session{
          .state = state, .inputs = {{"x", random_rows(kRows)}}, .experts = setup(2, misses)};
      const VerifyReport report = verify(executor_, pass(kRows), {.session = session});
      EXPECT_TRUE(report.equal()) << report.text();
      std::vector<std::string> names;
      for (const VerifiedTensor& tensor : report.tensors) {
        names.push_back(tensor.name);
      }
      EXPECT_EQ(names,
                (std::vector<std::string>{"output 'ids.0'", "output 'ids.1'", "output 'y'"}));
    }
  }
}

TEST_P(ExpertSessions, AreCleanForLintWhichFindsWhatElseIsBaked) {
  for (const ExpertMiss misses : kBoth) {
    const std::uint64_t allocations = this->allocations();
    const LintOptions options{
        .session = {.inputs = {{"x", random_rows(1)}}, .experts = setup(2, misses)}};
    const LintReport clean = lint(executor_, pass(1), options);
    EXPECT_TRUE(clean.clean()) << clean.text();
    EXPECT_EQ(this->allocations(), allocations) << "cells of a pass that does not run";
    float factor = 1;
    const LintReport baked =
        lint(executor_,
             [&](GraphSession& s) {
               record(s, 1);
               s.output("z", scale(s, s.input("x2", {4}), {.scale = factor++}));
             },
             {.session = {.inputs = {{"x", random_rows(1)}, {"x2", Floats(4)}},
                          .experts = setup(2, misses)}});
    ASSERT_FALSE(baked.clean());
    EXPECT_EQ(baked.findings[0].op, "scale");
    EXPECT_EQ(baked.findings[0].field, "scale");
    EXPECT_TRUE(std::ranges::all_of(std::span(baked.findings).subspan(1), &LintFinding::follows))
        << baked.text();
  }
}

TEST_P(ExpertSessions, ArePrewarmedWithTheKernelsOfADeviceThatHasAll) {
  const SessionOptions all{.inputs = {{"x", random_rows(1)}},
                           .experts = setup(kExperts, ExpertMiss::upload)};
  const WarmUp expected = executor_.prewarm(pass(1), all);
  for (const ExpertMiss misses : kBoth) {
    SessionOptions some = all;
    some.experts = setup(2, misses);
    EXPECT_EQ(executor_.prewarm(pass(1), some).kernels, expected.kernels);
  }
}

TEST_P(ExpertSessions, StandStillAsLongAsTheirHostStepsAtLeast) {
  for (const ExpertMiss misses : kBoth) {
    ExecutableGraph some = graph(setup(2, misses));
    std::uint64_t on_the_host = 0;
    for (int run = 0; run < 4; ++run) {
      const Ticket ticket = some.run({{"x", random_rows(1)}});
      on_the_host += ticket.times().host_step_ns;
    }
    std::uint64_t stall = 0;
    for (const ExpertStats& stats : some.expert_stats()) {
      EXPECT_GT(stats.stall_ns, 0U) << stats.layer;
      stall += stats.stall_ns;
    }
    EXPECT_GE(stall, on_the_host) << "and until the device has more to do";
  }
  ExecutableGraph all = graph(setup(kExperts, ExpertMiss::upload));
  (void)all.run({{"x", random_rows(1)}});
  EXPECT_EQ(all.expert_stats()[0].stall_ns, 0U);
}

TEST_P(ExpertSessions, ThatStopDoNotShareThePoolOfOtherGraphs) {
  GraphSession s = executor_.begin_recorded({.state = StateBlock(device_, StateLayout()),
                                             .inputs = {{"x", random_rows(1)}},
                                             .experts = setup(2, ExpertMiss::upload)});
  record(s, 1);
  expect_error(ErrorCode::invalid_argument, {"expert is missing", "without a pool"},
               [&] { (void)s.finish({.pool = CapturePool(device_)}); });
}

TEST_P(ExpertSessions, OfNoRowsHaveNothingToServe) {
  for (const ExpertMiss misses : kBoth) {
    for (const StateBlock& state :
         {StateBlock(), StateBlock(device_, StateLayout().carried("pos"))}) {
      const SessionOptions options{
          .state = state, .inputs = {{"x", Floats()}}, .experts = setup(2, misses)};
      GraphSession direct = executor_.begin(options);
      record(direct, 0);
      EXPECT_EQ(direct.finish().read<float>("y"), Floats());
      EXPECT_EQ(executor_.capture(pass(0), options).read<float>("y"), Floats());
    }
  }
}

}  // namespace
}  // namespace reprise::testing
