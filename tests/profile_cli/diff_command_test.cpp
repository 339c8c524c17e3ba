// `reprise db diff`: nodes side by side, the rank test, and the exit status for CI.
#include "debugger/cli/db_commands.h"
#include "debugger/model/rank_test.h"
#include "debugger/model/run_diff.h"
#include "reprise/reprise.h"
#include "tests/profile/sql.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using cli::DiffCommand;
using debugger::rank_test;
using test::error_of;
using test::printed;
using test::write_run;

class DiffCommandTest : public test::TimedDatabase {
 protected:
  /// Node `slow` takes a tenth longer, and every node a little more in every replay.
  static test::RunShape slower_by_a_tenth(std::size_t slow, std::uint64_t replays = 31) {
    return {
        .label = "slower", .replays = replays, .step_ns = [slow](std::uint64_t r, std::size_t s) {
          return (s + 1) * (s == slow ? 1100 : 1000) + r;
        }};
  }
  static test::RunShape plain(std::uint64_t replays = 31) {
    return {.replays = replays,
            .step_ns = [](std::uint64_t r, std::size_t s) { return (s + 1) * 1000 + r; }};
  }
  std::string output(const DiffCommand& command, int expected_status) {
    int status = -1;
    const std::string text = printed([&] { status = cli::print_diff(command); });
    EXPECT_EQ(status, expected_status);
    return text;
  }
  const std::filesystem::path other_ = folder_ / "other.db";
};

TEST_F(DiffCommandTest, TwoFilesNodeByNode) {
  write_run(path_, plain());
  write_run(other_, slower_by_a_tenth(1));
  EXPECT_EQ(output({path(), other_.string()}, 0),
            "graph   a  b  op     scope         times a  times b  p50 a us  p50 b us  p95 a us  "
            "p95 b us    b/a       p  change\n"
            "decode  0  0  norm   layer.3/attn       30       30       1.0       1.0       1.0     "
            "  1.0  1.000   1.000\n"
            "decode  1  1  add    layer.3            30       30       2.0       2.2       2.0     "
            "  2.2  1.099  <0.001  slower\n"
            "decode  2  2  scale  layer.3            30       30       7.0       7.0       7.1     "
            "  7.1  1.000   1.000\n"
            "decode  3  3  norm                      30       30       5.0       5.0       5.0     "
            "  5.0  1.000   1.000\n"
            "\n"
            "graphs\n"
            "graph   a  b  device p50 a us  device p50 b us  change\n"
            "decode  1  1             15.1             15.3\n"
            "1 nodes slower by more than 5.0%, 0 faster\n");
}

TEST_F(DiffCommandTest, TwoRunsOfAFileAndTheStatusForCi) {
  write_run(path_, plain());
  write_run(path_, slower_by_a_tenth(1));
  DiffCommand command{path(), "", 1, 2, "5%", cli::Format::csv};
  EXPECT_EQ(output(command, 3),
            "graph,node_a,node_b,op,scope,times_a,times_b,median_a_ns,median_b_ns,p95_a_ns,p95_b_"
            "ns,ratio,probability,change\n"
            "decode,0,0,norm,layer.3/attn,30,30,1015,1015,1028,1028,1.0,1.0,\n"
            "decode,1,1,add,layer.3,30,30,2015,2215,2028,2228,1.099255583126551,3.019859359162151e-"
            "11,slower\n"
            "decode,2,2,scale,layer.3,30,30,7030,7030,7056,7056,1.0,1.0,\n"
            "decode,3,3,norm,,30,30,5015,5015,5028,5028,1.0,1.0,\n");
  command.fail_above = "11";
  output(command, 0);
  command.run_a = 2;
  command.run_b = 1;
  command.fail_above = "0%";
  output(command, 0);
}

TEST_F(DiffCommandTest, NodesThatDifferInMoreThanTheirTimesAreCountedToo) {
  write_run(path_, plain());
  write_run(other_, slower_by_a_tenth(1));
  ASSERT_EQ(test::sql(other_,
                      "UPDATE tensors SET dtype = 'f16' WHERE idx IN (SELECT tensor_idx FROM "
                      "node_tensors WHERE node_idx = 1 AND access = 'w')"),
            "");
  const std::string slower = output({path(), other_.string(), {}, {}, "5%"}, 3);
  EXPECT_NE(slower.find("slower; "), std::string::npos) << slower;
  EXPECT_NE(slower.find("1 nodes slower by more than 5.0%, 0 faster"), std::string::npos) << slower;
  const std::string faster = output({other_.string(), path(), {}, {}, "5%"}, 0);
  EXPECT_NE(faster.find("0 nodes slower by more than 5.0%, 1 faster"), std::string::npos) << faster;
}

TEST_F(DiffCommandTest, NodesThatOnlyOneRunHasAreAddedOrRemoved) {
  test::RunShape longer = plain();
  longer.graph.scales = 2;
  write_run(path_, plain());
  write_run(other_, longer);
  const auto changes = [&](const std::string& a, const std::string& b) {
    std::string text;
    const debugger::RunDiff diff = debugger::diff_runs({a, {}}, {b, {}});
    for (const debugger::NodeDiff& node : diff.graphs.at(0).nodes) {
      text += node.op + (node.a ? " " + std::to_string(node.a->node) : " -") +
              (node.b ? " " + std::to_string(node.b->node) : " -") + "\n";
    }
    return text;
  };
  EXPECT_EQ(changes(path(), other_.string()),
            "norm 0 0\nadd 1 1\nscale 2 2\nnorm 3 4\nscale - 3\n");
  EXPECT_EQ(changes(other_.string(), path()),
            "norm 0 0\nadd 1 1\nscale 2 2\nscale 3 -\nnorm 4 3\n");
}

TEST_F(DiffCommandTest, CallsInAnotherOrderAreTheSameCalls) {
  const Device device = open_device("cpu");
  const Tensor a = device.zeros({8, 4}, DType::f32, "a"), b = device.zeros({8, 4}, DType::f32, "b");
  const auto record = [&](const std::filesystem::path& file, bool a_first, const Tensor& of_a) {
    GraphExecutor executor(device, {.profile = file});
    auto s = executor.begin_recorded({.name = "sum"});
    const Tensor first = get_rows(s, a_first ? of_a : b, 1);
    const Tensor second = get_rows(s, a_first ? b : of_a, 1);
    s.output("y", a_first ? sub(s, neg(s, first), second) : sub(s, neg(s, second), first));
    (void)s.finish();
    executor.shutdown();
  };
  const auto changes = [&](const std::filesystem::path& left, const std::filesystem::path& right) {
    std::string text;
    const debugger::RunDiff diff = debugger::diff_runs({left, {}}, {right, {}});
    for (const debugger::NodeDiff& node : diff.graphs.at(0).nodes) {
      text += node.op + " " + std::to_string(node.a->node) + " " + std::to_string(node.b->node);
      for (const std::string& change : node.changes) {
        text += ", " + change;
      }
      text += "\n";
    }
    return text;
  };
  record(path_, true, a);
  record(other_, false, a);
  EXPECT_EQ(changes(path_, other_),
            "get_rows 0 1\nget_rows 1 0, recorded before node 1 there\nneg 2 2\nsub 3 3\n");
  const std::filesystem::path third = folder_ / "third.db";
  record(third, true, device.zeros({8, 4}, DType::f32, "c"));
  EXPECT_EQ(changes(path_, third),
            "get_rows 0 0, table 'a' to 'c'\nget_rows 1 1\nneg 2 2\nsub 3 3\n");
  EXPECT_NE(output({path(), third.string()}, 0).find("table 'a' to 'c'"), std::string::npos);
}

TEST_F(DiffCommandTest, FewTimesAreComparedByTheStatistics) {
  write_run(path_, plain(5));
  write_run(other_, plain(5));
  const std::string text = output({path(), other_.string()}, 0);
  EXPECT_NE(text.find("4 nodes without a rank test: fewer than 20 of their times were kept"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("decode  0  0  norm   layer.3/attn        4        4       1.0       1.0"),
            std::string::npos)
      << text;
}

TEST_F(DiffCommandTest, AThresholdWithoutTimesInOneModeIsRefused) {
  test::RunShape untimed = plain();
  untimed.mode = TimingMode::off;
  write_run(path_, plain());
  write_run(other_, untimed);
  EXPECT_EQ(
      error_of([&] {
        cli::print_diff({path(), other_.string(), {}, {}, "5%"});
      }),
      "--fail-above (5%) has nothing to compare: no node has times of one timing mode in both "
      "runs. The modes of run (1) are (node), those of run (1) are (off); --profile-mode node "
      "takes times of nodes.");
  const std::string text = output({path(), other_.string()}, 0);
  EXPECT_EQ(text.find("without a rank test"), std::string::npos) << text;
}

TEST_F(DiffCommandTest, WhatCannotBeComparedIsSaid) {
  write_run(path_, plain(2));
  test::RunShape named = plain(2);
  named.graph.name = "prefill";
  write_run(other_, named);
  EXPECT_EQ(error_of([&] {
              cli::print_diff({path(), other_.string()});
            }),
            "Run (1) and run (1) have no graph in common; the first of each are (decode) and "
            "(prefill).");
  EXPECT_EQ(error_of([&] { cli::print_diff({path()}); }),
            "Two files, or --run-a and --run-b of one, are needed to compare.");
  EXPECT_EQ(error_of([&] {
              cli::print_diff({path(), other_.string(), 9});
            }),
            "The profiling database (" + path() + ") has no graphs of run (9).");
  for (const char* above : {"-1%", "much", "", "nan", "5%%"}) {
    EXPECT_EQ(error_of([&] {
                cli::print_diff({path(), other_.string(), {}, {}, above});
              }),
              std::string("--fail-above is (") + above +
                  "), but must be a percentage from 0 on, such as 5%.");
  }
}

TEST(RankTest, FindsWhatDiffersAndNothingElse) {
  std::vector<std::uint64_t> low, high, mixed;
  for (std::uint64_t i = 0; i < 40; ++i) {
    low.push_back(1000 + i);
    high.push_back(1040 + i);
    mixed.push_back(i % 2 == 0 ? 1000 + i : 1000 + i - 1);
  }
  EXPECT_LT(*rank_test(low, high), 1e-12);
  EXPECT_EQ(*rank_test(low, high), *rank_test(high, low));
  EXPECT_GT(*rank_test(low, low), 0.99);
  EXPECT_GT(*rank_test(low, mixed), 0.8);
  EXPECT_EQ(rank_test(std::vector<std::uint64_t>(20, 5), std::vector<std::uint64_t>(30, 5)), 1.0);
  EXPECT_EQ(rank_test(std::span(low).first(19), high), std::nullopt);
}

TEST(RankTest, IsTheNormalApproximationOfTheNumberOfPairs) {
  // Of 0 to 24 against 5 to 29, 200 of 625 pairs are in order; ties count half.
  std::vector<std::uint64_t> a, b;
  for (std::uint64_t i = 0; i < 25; ++i) {
    a.push_back(i);
    b.push_back(i + 5);
  }
  EXPECT_NEAR(*rank_test(a, b), 0.029692860930829495, 1e-12);
}

}  // namespace
}  // namespace reprise
