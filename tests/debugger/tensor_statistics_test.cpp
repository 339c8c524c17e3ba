#include "debugger/model/tensor_statistics.h"

#include <cmath>
#include <fstream>
#include <gmock/gmock.h>

#include "tests/debugger/watched_database.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// h in three launches, the last without contents, and s in the first.
class NumbersTest : public ::testing::Test {
 protected:
  NumbersTest() : database_(launches(), comparisons()) {}
  static std::vector<WatchedLaunch> launches() {
    std::vector<float> bad = ramp(192, -1, 0.01F);
    bad[7] = NAN;
    return {{{{0, {2, 96}, ramp(192, 0, 1)}, {1, {2, 96}, ramp(192, 5, 0)}}},
            {{{0, {2, 96}, bad}}},
            {{{0, {2, 96}, ramp(192, 0, 3)}}, false}};
  }
  static std::vector<ComparisonRecord> comparisons() {
    return {{.node = 0, .tensor = 3, .name = "h", .reference = "direct"},
            {.name = "output 'logits'", .reference = "direct"}};
  }
  std::shared_ptr<const Capture> capture() const {
    return std::make_shared<const Capture>(read_capture(database_.path(), database_.id()));
  }
  TensorStatistics read() const { return read_numbers(database_.path(), *capture()); }

  const WatchedDatabase database_;
};

TEST_F(NumbersTest, AreAllThatTheFileHoldsOfTheCapture) {
  const TensorStatistics numbers = read();
  ASSERT_THAT(numbers.sums, SizeIs(2));
  EXPECT_EQ(numbers.sums[0].tensor, 3);
  EXPECT_EQ(numbers.sums[0].replays, 3U);
  EXPECT_EQ(numbers.sums[1].replays, 1U);
  EXPECT_THAT(numbers.snapshots, SizeIs(3));
  EXPECT_THAT(numbers.comparisons, SizeIs(2));
  EXPECT_THAT(numbers.problems, IsEmpty());
  EXPECT_EQ(numbers.sums_of(4)->node, 1);
  EXPECT_EQ(numbers.sums_of(5), nullptr);
}

TEST_F(NumbersTest, HaveTheSnapshotOfAReplayOrTheLatest) {
  const TensorStatistics numbers = read();
  EXPECT_EQ(numbers.snapshot_of(3, {})->of.sequence, 1U);
  EXPECT_EQ(numbers.snapshot_of(3, numbers.snapshots[0].of.replay)->of.sequence, 0U);
  EXPECT_EQ(numbers.snapshot_of(4, {})->of.sequence, 0U);
  EXPECT_EQ(numbers.snapshot_of(5, {}), nullptr);
}

TEST_F(NumbersTest, LeaveOutRowsThatLieOutsideOfTheCapture) {
  ASSERT_EQ(test::sql(database_.path(),
                      "UPDATE tensor_stats SET node_idx = -1 WHERE tensor_idx = 4; "
                      "UPDATE snapshots SET tensor_idx = 4000000000 WHERE id = 1; "
                      "UPDATE comparisons SET node_idx = 3 WHERE id = 1; UPDATE snapshots SET "
                      "replay_id = 77 WHERE id = 2; UPDATE tensor_stats SET replay_id = 78 WHERE "
                      "tensor_idx = 3 AND replay_id = 1; UPDATE tensor_stats SET node_idx = 4000 "
                      "WHERE tensor_idx = 3 AND replay_id = 2"),
            "");
  const TensorStatistics numbers = read();
  ASSERT_THAT(numbers.sums, SizeIs(1));
  EXPECT_EQ(numbers.sums[0].replays, 1U);
  EXPECT_THAT(numbers.snapshots, SizeIs(1));
  EXPECT_THAT(numbers.comparisons, SizeIs(1));
  std::vector<FileProblem> expected;
  const std::string nowhere = "the graph has no such node or tensor";
  note_left_out(expected, 1, "snapshots", nowhere);
  note_left_out(expected, 1, "comparisons", nowhere);
  note_left_out(expected, 3, "tensor_stats",
                "the file has no such replay, node or tensor of the graph");
  note_left_out(expected, 1, "snapshots", "the file has no such replay of the graph");
  EXPECT_EQ(numbers.problems, expected);
}

TEST_F(NumbersTest, CountEveryRowOfATensorBehindAGap) {
  ASSERT_EQ(
      test::sql(database_.path(),
                "UPDATE nodes SET idx = 9 WHERE idx = 2; UPDATE tensor_stats SET node_idx = 9 "
                "WHERE tensor_idx = 3"),
      "");
  std::vector<FileProblem> expected;
  note_left_out(expected, 3, "tensor_stats", "the graph has no such node or tensor");
  EXPECT_THAT(read().problems, ::testing::IsSupersetOf(expected));
}

TEST_F(NumbersTest, AreReadWhenSomebodyShowsThemAndAgainWhenTheFileChanges) {
  ReadScheduler scheduler(database_.path());
  TensorStatisticsRead read(of_capture<read_numbers>, Follow::file);
  scheduler.settle();
  EXPECT_EQ(read.value(), nullptr);
  read.show(scheduler, capture());
  scheduler.settle();
  ASSERT_NE(read.value(), nullptr);
  EXPECT_THAT(read.value()->snapshots, SizeIs(3));
  const std::uint64_t revision = read.revision();
  ASSERT_EQ(test::sql(database_.path(), "DELETE FROM snapshots WHERE id = 2"), "");
  scheduler.settle();
  EXPECT_THAT(read.value()->snapshots, SizeIs(2));
  EXPECT_NE(read.revision(), revision);
}

TEST_F(NumbersTest, HaveTheReplaysOfATensor) {
  const auto rows = read_replays_of_tensor(database_.path(), {capture(), 3}, {});
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[1].nan, 1U);
  EXPECT_THAT(read_replays_of_tensor(database_.path(), {capture(), 4}, {}), SizeIs(1));
}

TEST_F(NumbersTest, HaveTheContentsOfASnapshot) {
  const SnapshotKey key{capture(), *read().snapshot_of(3, {})};
  const TensorValues contents = read_contents(database_.path(), key, {});
  EXPECT_THAT(contents.dims, ElementsAre(2U, 96U));
  EXPECT_EQ(contents.values[8], static_cast<double>(ramp(192, -1, 0.01F)[8]));
  EXPECT_EQ(read_first_not_finite(database_.path(), key, {}), "nan at [0, 7]");
}

TEST_F(NumbersTest, SayWhyContentsCannotBeShown) {
  ASSERT_EQ(test::sql(database_.path(), "UPDATE snapshots SET data = x'00' WHERE id = 1"), "");
  ReadScheduler scheduler(database_.path());
  Read<SnapshotKey, TensorValues> contents(read_contents);
  contents.show(scheduler, {capture(), read().snapshots[0]});
  scheduler.settle();
  EXPECT_EQ(contents.value(), nullptr);
  EXPECT_THAT(contents.problem(), HasSubstr("is damaged"));
}

TEST_F(NumbersTest, SayWhyTheyCannotBeRead) {
  const auto shown = capture();
  std::ofstream(database_.path()) << "no database";
  ReadScheduler scheduler(database_.path());
  TensorStatisticsRead read(of_capture<read_numbers>);
  read.show(scheduler, shown);
  scheduler.settle();
  EXPECT_EQ(read.value(), nullptr);
  EXPECT_THAT(read.problem(), HasSubstr("not a profiling database"));
}

}  // namespace
}  // namespace reprise::debugger
