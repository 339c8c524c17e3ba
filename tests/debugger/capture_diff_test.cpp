#include "debugger/model/capture_diff.h"

#include <cmath>
#include <gmock/gmock.h>

#include "debugger/model/node_changes.h"
#include "debugger/model/workspace.h"
#include "tests/debugger/synthetic_capture.h"
#include "tests/debugger/watched_database.h"
#include "tests/profile/sql.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(NodeChanges, NameEverythingButTheSourceLine) {
  const Capture a = reprise::testing::chain_capture({{"", "norm"}});
  EXPECT_THAT(node_changes(a, 0, a, 0), IsEmpty());
  Capture b = a;
  b.nodes[0].attributes_json = R"({"eps":1e-6,"pos":{"state":"p"}})";
  b.nodes[0].source_line = 99;
  b.tensors[1].dtype = "f16";
  b.kernels.resize(1);
  b.kernels[0].name = "norm_4";
  b.steps[0].kernel = 0;
  b.nodes[0].steps.count = 0;
  EXPECT_THAT(node_changes(a, 0, b, 0),
              ElementsAre("attributes gone", "eps new: 1e-06", "pos new: state p",
                          "out f32 [1,64] to f16 [1,64]", "1 steps to 0"));
  b.nodes[0].steps.count = 1;
  EXPECT_THAT(node_changes(a, 0, b, 0), ::testing::Contains("kernel  to norm_4"));
}

TEST(NodeChanges, NameTheWeightThatIsReadInstead) {
  Capture a = reprise::testing::chain_capture({{"", "norm"}});
  a.tensors[0].role = "param";
  Capture b = a;
  a.tensors[0].name = "keys";
  b.tensors[0].name = "values";
  EXPECT_THAT(node_changes(a, 0, b, 0), ElementsAre(HasSubstr("'keys' to 'values'")));
  b.tensors[0].role = "activation";  // a made-up name
  EXPECT_THAT(node_changes(a, 0, b, 0), IsEmpty());
}

TEST(ValueDistance, IsOfTheElementOrTheRootMeanSquare) {
  const TensorValues a{DType::f32, {4}, {0, 2, 2, 0}}, b{DType::f32, {4}, {0.5, 2, 2.5, 0}};
  const ValueDistance found = distance_of(a, b);
  EXPECT_EQ(found.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(found.max_rel, 0.5 / std::sqrt(2.0));  // of the first element: 0.5 of 0
}

TEST(ValueDistance, OfNansIsNoneWhereBothHaveThem) {
  const TensorValues a{DType::f32, {3}, {NAN, INFINITY, 1}};
  EXPECT_EQ(distance_of(a, a).max_abs, 0);
  TensorValues b = a;
  b.values[0] = 1;
  EXPECT_TRUE(std::isnan(distance_of(a, b).max_abs));
  EXPECT_TRUE(std::isnan(distance_of(b, a).max_rel));
}

class CaptureDiffTest : public ::testing::Test {
 protected:
  static WatchedLaunch launch(float at_seven) {
    std::vector<float> values = ramp(192, 1, 1);
    values[7] += at_seven;
    return {{{0, {2, 96}, values}, {1, {2, 96}, ramp(192, 0, 1)}}};
  }
  static CaptureDiff compare(const WatchedDatabase& a, const WatchedDatabase& b) {
    return read_capture_diff({a.path(), a.id()}, {b.path(), b.id()});
  }
};

TEST_F(CaptureDiffTest, HasNumbersOfTheLastReplayThatBothKept) {
  const WatchedDatabase a({launch(5), launch(0), launch(9)}, {}), b({launch(0), launch(8)}, {});
  const CaptureDiff diff = compare(a, b);
  ASSERT_THAT(diff.numbers, SizeIs(3));
  ASSERT_TRUE(diff.numbers[0]);
  EXPECT_EQ(diff.numbers[0]->sequence, 1U);
  EXPECT_EQ(diff.numbers[0]->max_abs, 8.0);
  EXPECT_FALSE(diff.numbers[0]->equal());
  EXPECT_TRUE(diff.numbers[1]->equal());
  EXPECT_FALSE(diff.numbers[2]);
  const NodeChange diverged[] = {NodeChange::diverged};
  EXPECT_THAT(diff_rows(diff, diverged), ElementsAre(0U));
}

TEST_F(CaptureDiffTest, SaysWhatRanEachSide) {
  const WatchedDatabase a({}, {});
  ASSERT_EQ(test::sql(a.path(), "UPDATE builds SET git_commit = 'abc', git_dirty = 1"), "");
  const CaptureDiff diff = compare(a, a);
  EXPECT_EQ(diff.a.run.commit, "abc");
  EXPECT_TRUE(diff.b.run.dirty);
  EXPECT_EQ(diff.a.run.label, "watched");
  EXPECT_EQ(diff.a.graph, "decode");
}

TEST_F(CaptureDiffTest, SurvivesContentsThatAreMissingOrOfAnotherType) {
  const WatchedDatabase a({launch(0)}, {}), b({launch(1)}, {});
  ASSERT_EQ(test::sql(b.path(),
                      "UPDATE snapshots SET data = x'00' WHERE id = 1; UPDATE snapshots "
                      "SET dtype = 'f16' WHERE id = 2"),
            "");
  const CaptureDiff diff = compare(a, b);
  EXPECT_FALSE(diff.numbers[0]->max_abs);
  EXPECT_FALSE(diff.numbers[1]->max_abs);
  EXPECT_FALSE(diff.numbers[1]->equal());
}

class TimedDiffTest : public test::TimedDatabase {
 protected:
  CaptureDiff compare(const test::RunShape& a, const test::RunShape& b) {
    test::write_run(path_, a);
    test::write_run(path_, b);
    const auto captures = read_captures(path_);  // the latest first
    return read_capture_diff({path_, captures[1].id}, {path_, captures[0].id});
  }
  static std::vector<std::uint32_t> rows(const CaptureDiff& diff, NodeChange change) {
    return diff_rows(diff, std::span(&change, 1));
  }
};

TEST_F(TimedDiffTest, CallsSlowerWhatHardlyIsByChance) {
  const auto times = [](std::size_t slow) {
    return [slow](std::uint64_t r, std::size_t s) {
      return (s + 1) * (s == slow ? 1100 : 1000) + r % 7;
    };
  };
  const CaptureDiff diff =
      compare({.replays = 40, .step_ns = times(9)}, {.replays = 40, .step_ns = times(1)});
  EXPECT_THAT(rows(diff, NodeChange::slower), ElementsAre(1U));
  EXPECT_THAT(rows(diff, NodeChange::faster), IsEmpty());
  EXPECT_THAT(diff_rows(diff, {}), SizeIs(4));
}

TEST_F(TimedDiffTest, TellsACommonFactorFromNodesThatChanged) {
  const CaptureDiff diff =
      compare({.replays = 40}, {.replays = 40, .step_ns = [](std::uint64_t, std::size_t s) {
                                  return (s + 1) * (s == 0 ? 2000 : 720);
                                }});
  const auto common = common_factor(diff.graph);
  ASSERT_TRUE(common);
  EXPECT_DOUBLE_EQ(common->factor, 0.72);
  EXPECT_EQ(common->beyond, 1U);
  EXPECT_EQ(common_factor_text(*common),
            "B is 0.72 \xC3\x97 A throughout; beyond that 1 node changed notably");
  EXPECT_EQ(diff_rows(diff, {}, DiffOrder::difference, true).front(), 2U);  // of three steps' time
}

TEST_F(TimedDiffTest, DoesNotCallSlowerWhatVariesAsMuch) {
  const auto times = [](std::uint64_t turn) {
    return [turn](std::uint64_t r, std::size_t) { return 1000 + (r * 37 + turn) % 41 * 50; };
  };
  CaptureDiff diff =
      compare({.replays = 40, .step_ns = times(0)}, {.replays = 40, .step_ns = times(3)});
  diff.graph.nodes[0].ratio = 1.2;
  EXPECT_GT(*diff.graph.nodes[0].probability, 0.01);
  EXPECT_THAT(rows(diff, NodeChange::slower), IsEmpty());
}

TEST_F(TimedDiffTest, FindsWhatWasAddedRemovedAndChanged) {
  const CaptureDiff diff =
      compare({.graph = {.scales = 2}}, {.graph = {.columns = 64, .scales = 1}});
  EXPECT_THAT(rows(diff, NodeChange::removed), SizeIs(1));
  EXPECT_THAT(rows(diff, NodeChange::added), IsEmpty());
  EXPECT_THAT(rows(diff, NodeChange::changed), SizeIs(4));
  EXPECT_THAT(diff.graph.nodes[0].changes, ::testing::Contains("y f32 [2,96] to f32 [2,64]"));
}

TEST_F(TimedDiffTest, HasRowsAsBWasRecordedAndWhatOnlyAHasBehindItsPredecessor) {
  const auto nodes_of = [](const CaptureDiff& diff) {
    std::string nodes;
    for (const std::uint32_t row : diff_rows(diff, {})) {
      const NodeDiff& node = diff.graph.nodes[row];
      nodes +=
          node.b ? std::to_string(node.b->node) + " " : "-" + std::to_string(node.a->node) + " ";
    }
    return nodes;
  };
  EXPECT_EQ(nodes_of(compare({.graph = {.scales = 2}}, {.graph = {.scales = 1}})), "0 1 2 -3 3 ");
  EXPECT_EQ(nodes_of(compare({.graph = {.scales = 1}}, {.graph = {.scales = 3}})), "0 1 2 3 4 5 ");
}

TEST_F(TimedDiffTest, ReadsAnotherFileAndSaysWhatIsWrongWithIt) {
  test::write_run(path_);
  Workspace workspace(path_, {});
  const auto& other = workspace.other_file;
  workspace.open_other(folder_ / "absent.db");
  workspace.settle();
  EXPECT_THAT(other.problem(), HasSubstr("no such file"));
  EXPECT_EQ(other.value(), nullptr);
  workspace.open_other(path_);
  workspace.settle();
  ASSERT_NE(other.value(), nullptr);
  ASSERT_THAT(other.value()->captures, SizeIs(1));
  const CaptureOfFile known{path_, other.value()->captures[0].id};
  Read<std::pair<CaptureOfFile, CaptureOfFile>, CaptureDiff> diff(read_diff_of);
  diff.show(workspace.reads, {{path_, {7, 7}}, known});
  workspace.settle();
  EXPECT_EQ(diff.value(), nullptr);
  EXPECT_NE(diff.problem(), "");
  diff.show(workspace.reads, {known, known});
  workspace.settle();
  EXPECT_NE(diff.value(), nullptr);
  EXPECT_EQ(diff.problem(), "");
}

}  // namespace
}  // namespace reprise::debugger
