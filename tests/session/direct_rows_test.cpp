// What direct sessions leave in the profiling database: each is a recording with one replay.
#include "framework/profile/profile_check.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class DirectRows : public ::testing::TestWithParam<std::string> {
 protected:
  /// Arenas begin with one tensor, so that the first session needs several chunks.
  GraphExecutor executor(TimingMode timing = TimingMode::replay) const {
    return GraphExecutor(
        device_, {.profile = path_, .timing = timing, .arenas = {.first_chunk_bytes = 256}});
  }
  /// y = (x * w) + w, then so many times y = y + x.
  void record(GraphSession& s, int more = 2) const {
    const Tensor x = s.input("x", {4}, std::vector<float>{1, 2, 3, 4});
    Tensor y = mul(s, x, weight_);
    kLineOfMul = __LINE__ - 1;
    y = add(s, y, weight_);
    for (int i = 0; i < more; ++i) {
      y = add(s, y, x);
    }
    s.output("y", y);
  }
  FinishResult run(GraphExecutor& executor, int more = 2, std::uint32_t per_submit = 0) {
    auto s = executor.begin({.name = "pass", .ops_per_submit = per_submit});
    record(s, more);
    return s.finish();
  }
  std::string query(const std::string& text) const { return test::sql(path_, text); }
  void expect_sound() const {
    for (const ProfileFinding& finding : check_profile(path_)) {
      ADD_FAILURE() << finding.about << ": " << finding.message;
    }
  }
  /// Of each replay: whether every step has a time, in order, and all lie inside of it.
  std::string times_per_replay() const {
    return query(
        "SELECT count(*), count(dur_ns), min(start_ns)>=0, max(start_ns+dur_ns)<=r.device_ns, "
        "sum(dur_ns)>0 FROM v_step_timings t JOIN replays r ON r.id=t.replay_id GROUP BY r.id");
  }

  static inline int kLineOfMul = 0;
  const ExpectNoValidationMessages quiet_;
  const test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  Device device_ = test_device(GetParam());
  Tensor weight_ = device_.from_host({4}, std::vector<float>{5, 6, 7, 8}, "weight");
};
INSTANTIATE_TEST_SUITE_P(On, DirectRows, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(DirectRows, TwentySessionsOfAPassAreOneGraphWithTwentyReplaysWhereverTheirTensorsLie) {
  {
    GraphExecutor executor(
        device_,
        {.profile = path_, .timing = TimingMode::replay, .arenas = {.first_chunk_bytes = 1024}});
    // `wide` does not fit behind x in the first chunk; what comes then does.
    const auto run_wide = [&] {
      auto s = executor.begin({.name = "pass"});
      const Tensor x = s.input("x", {4}, std::vector<float>{1, 2, 3, 4});
      const Tensor wide = s.input("wide", {256}, std::vector<float>(256, 1));
      s.output("y", add(s, mul(s, x, weight_), x));
      s.output("z", add(s, wide, wide));
      return s.finish().report.arena_growths;
    };
    EXPECT_GT(run_wide(), 1U);
    executor.defragment();  // one chunk: they lie one behind the other
    for (int i = 1; i < 20; ++i) {
      EXPECT_EQ(run_wide(), 0U);
    }
  }
  EXPECT_EQ(query("SELECT name, node_count, (SELECT count(*) FROM recordings), (SELECT count(*) "
                  "FROM replays WHERE device_ns IS NOT NULL AND warm_up = 0) FROM graphs"),
            "pass|3|20|20");
  EXPECT_EQ(query("SELECT mode, count(DISTINCT graph_id), count(graph_id) FROM sessions"),
            "direct|1|20");
  expect_sound();
}

TEST_P(DirectRows, SessionsOfDifferentStructureAreDifferentGraphs) {
  {
    GraphExecutor executor = this->executor();
    for (const int more : {1, 2, 1}) {
      (void)run(executor, more);
    }
  }
  EXPECT_EQ(
      query("SELECT node_count, count(*) FROM graphs g JOIN recordings c ON c.graph_id = g.id "
            "GROUP BY g.id ORDER BY g.id"),
      "3|2\n4|1");
}

TEST_P(DirectRows, NodesHaveTheirScopesAndSourceLines) {
  {
    GraphExecutor executor = this->executor();
    auto s = executor.begin({.name = "pass"});
    const auto scope = s.scope("layer", 3);
    record(s);
    (void)s.finish();
  }
  EXPECT_EQ(query("SELECT op, scope, src_file LIKE '%direct_rows_test.cpp', src_line FROM nodes "
                  "WHERE idx = 0"),
            "mul|layer.3|1|" + std::to_string(kLineOfMul));
}

TEST_P(DirectRows, ABarrierNamesTheStepAndTheTensorItWaitsFor) {
  {
    GraphExecutor executor = this->executor();
    auto s = executor.begin({.name = "pass"});
    record(s, 0);
    (void)s.finish();
  }
  EXPECT_EQ(query("SELECT before_step, src_step, kind, cause_op, waiting_op, size_bytes, dtype "
                  "FROM v_barrier_tensors"),
            "1|0|RAW|mul|add|16|f32");
}

TEST_P(DirectRows, StepTimesOfNodeModesLieInsideTheReplay) {
  {
    GraphExecutor executor = this->executor(TimingMode::node);
    (void)run(executor);
    (void)run(executor);
  }
  EXPECT_EQ(times_per_replay(), "4|4|1|1|1\n4|4|1|1|1");
  EXPECT_EQ(query("SELECT op, replays FROM v_top_nodes ORDER BY node"),
            "mul|2\nadd|2\nadd|2\nadd|2")
      << "no direct session is a warm-up of the next one";
  expect_sound();
}

TEST_P(DirectRows, StepTimesGoOnBehindAFullSetOfTimestamps) {
  constexpr int kMore = 2100;
  {
    GraphExecutor executor = this->executor(TimingMode::node);
    (void)run(executor, kMore);
    (void)run(executor, kMore);
  }
  const std::string steps = std::to_string(kMore + 2);
  const std::string times = steps + "|" + steps + "|1|1|1";
  EXPECT_EQ(times_per_replay(), times + "\n" + times);
}

TEST_P(DirectRows, ASessionInPartsHasTimesOfAllItsSteps) {
  {
    GraphExecutor executor = this->executor(TimingMode::node);
    EXPECT_EQ(run(executor, 5, 3).report.submits, 3U);
    auto s = executor.begin({.name = "with a host step"});
    const Tensor x = s.input("x", {4}, std::vector<float>{1, 2, 3, 4});
    const Tensor y =
        host_step(s, "copy", {mul(s, x, weight_)}, {{{4}, DType::f32}}, [](auto& call) {
          std::ranges::copy(call.template input<float>(0), call.template output<float>(0).begin());
        })[0];
    s.output("y", add(s, y, y));
    (void)s.finish();
  }
  EXPECT_EQ(times_per_replay(), "7|7|1|1|1\n3|3|1|1|1");
  expect_sound();
}

TEST_P(DirectRows, ExtentsOfDifferentRowsAreOneGraph) {
  {
    GraphExecutor executor = this->executor(TimingMode::node);
    const StateBlock state(device_, StateLayout().host("rows", 0));
    for (const std::int32_t rows : {3, 5, 0}) {
      state.set("rows", rows);
      auto s = executor.begin({.name = "rows", .state = state, .extents = {{"rows", 8}}});
      const std::vector<float> values(static_cast<std::size_t>(rows) * 4, 2.0F);
      const Tensor x = s.input("x", {s.extent("rows"), 4}, values);
      s.output("y", add(s, x, x));
      (void)s.finish();
    }
  }
  EXPECT_EQ(
      query("SELECT c.graph_id, r.status, count(*) FROM replays r JOIN recordings c ON c.id = "
            "r.recording_id GROUP BY 1, 2 ORDER BY 1"),
      "1|0|2\n2|1|1")
      << "with no rows only the plan is there";
  EXPECT_EQ(
      query("SELECT value FROM v_replay_state WHERE field = 'rows' ORDER BY replay_id LIMIT 2"),
      "3\n5");
  expect_sound();
}

}  // namespace
}  // namespace reprise::testing
