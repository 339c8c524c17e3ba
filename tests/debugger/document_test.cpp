// The document against a file that the test writes.
#include "debugger/model/document.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <numeric>

#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using test::GraphMaker;
using test::GraphOptions;
using test::nanosecond_device;
using test::node_times;
using test::random_durations;
using test::run_info;
using test::seed_note;
using test::send_recording;
using test::sql;
using test::TempFolder;
using test::test_seed;
using test::TimedReplay;

/// How often this process has a database open.
int open_descriptors_of(const std::filesystem::path& database) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor of this very list
    const std::filesystem::path target = std::filesystem::read_symlink(entry, gone);
    count += target == std::filesystem::canonical(database) ? 1 : 0;
  }
  return count;
}

/// A program that records one graph and replays it.
class Writer {
 public:
  Writer(const std::filesystem::path& path, const std::string& name, std::size_t scales,
         std::uint64_t seed)
      : random_(seed), sink_(open_profile(path, run_info("test", name))) {
    GraphOptions options;
    options.name = name;
    options.scales = scales;
    graph_ = GraphMaker(options).make();
    sink_->device(nanosecond_device());
    recording_ = send_recording(*sink_, graph_);
    sink_->flush();
  }
  void replay(std::size_t times, TimingMode mode = TimingMode::node) {
    for (std::size_t i = 0; i < times; ++i) {
      TimedReplay replay(recording_, node_ns_.size(),
                         random_durations(random_, graph_->steps.size()));
      replay.record.timing_mode = mode;
      if (mode != TimingMode::node) {
        replay.record.step_ticks = {};
      }
      replay.record.warm_up = node_ns_.empty();
      sink_->replay(replay.record);
      node_ns_.push_back(node_times(*graph_, replay.durations));
      step_ns_.push_back(replay.durations);
    }
    sink_->flush();
  }
  void fail() {
    TimedReplay replay(recording_, node_ns_.size(),
                       random_durations(random_, graph_->steps.size()));
    replay.record.status = ReplayStatus::failed;
    sink_->replay(replay.record);
    sink_->flush();
  }
  /// Of one node, in the replays of a range.
  std::vector<std::uint64_t> times(std::size_t node, std::size_t first, std::size_t last) const {
    std::vector<std::uint64_t> times;
    for (std::size_t r = first; r <= last; ++r) {
      times.push_back(node_ns_[r][node]);
    }
    return times;
  }
  const std::vector<std::uint64_t>& steps(std::size_t replay) const { return step_ns_[replay]; }
  std::size_t nodes() const { return graph_->graph->nodes.size(); }

 private:
  std::mt19937_64 random_;
  std::shared_ptr<ProfileSink> sink_;
  std::shared_ptr<const ExecutionPlan> graph_;
  std::uint64_t recording_ = 0;
  std::vector<std::vector<std::uint64_t>> node_ns_, step_ns_;
};

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

/// By sorting, not as the code does it.
std::uint64_t sorted_quantile(std::vector<std::uint64_t> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[(percent * values.size() + 99) / 100 - 1];
}

/// The whole file, in place: it stays the same file.
void overwrite(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class DocumentTest : public ::testing::Test {
 protected:
  /// As a window does it; false if that takes a minute.
  static bool poll_until(Document& document, const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done() && std::chrono::steady_clock::now() < end) {
      document.poll();
    }
    return done();
  }
  const std::uint64_t seed_ = test_seed();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(DocumentTest, ShowsWhatAFinishedFileHolds) {
  {
    Writer writer(path_, "decode", 2, seed_);
    writer.replay(10);
  }
  Document document(path_);
  EXPECT_TRUE(document.busy());
  EXPECT_EQ(document.capture(), nullptr);
  document.settle();
  EXPECT_FALSE(document.busy());
  EXPECT_EQ(document.problem(), "");
  EXPECT_FALSE(document.live());
  ASSERT_NE(document.capture(), nullptr);
  EXPECT_EQ(document.capture()->nodes.size(), 5U);
  EXPECT_EQ(document.replays().rows.size(), 10U);
  EXPECT_EQ(document.timing_sources(), (std::vector<TimingSource>{{"decode", TimingMode::node}}));
  EXPECT_EQ(document.statistics().replays, 9U);
  EXPECT_EQ(document.statistics().in_range.counted(), 9U);
  EXPECT_EQ(folder_.files(), 1U);
  EXPECT_FALSE(document.poll());
}

TEST_F(DocumentTest, StatisticsOfTheWholeTableAreThoseOfAllReplays) {
  auto writer = std::make_unique<Writer>(path_, "decode", 2, seed_);
  writer->replay(2000);  // more than keep their step times
  const auto times = writer->times(1, 1, 1999);
  writer.reset();
  Document document(path_);
  document.settle();
  EXPECT_EQ(document.statistics().replays, 1999U);
  EXPECT_EQ(document.statistics().nodes.at(1)->total_ns, sum(times));
  std::uint64_t sum_of_medians = 0;
  std::uint64_t slowest = 0;
  for (const auto& node : document.statistics().nodes) {
    sum_of_medians += node->p50_ns;
    slowest = std::max(slowest, node->p50_ns);
  }
  EXPECT_EQ(document.statistics().p50_sum_ns, sum_of_medians);
  EXPECT_EQ(document.statistics().max_p50_ns, slowest);
}

TEST_F(DocumentTest, StatisticsAndHistogramOfARangeAreThoseOfItsReplays) {
  Writer writer(path_, "decode", 3, seed_);
  writer.replay(100);
  Document document(path_);
  document.settle();
  document.show_histogram(2);
  document.set_range(ReplayRange{60, 25});  // either end first
  EXPECT_EQ(document.range(), (ReplayRange{25, 60}));
  EXPECT_TRUE(document.busy());
  document.settle();
  EXPECT_EQ(document.statistics().replays, 36U);
  EXPECT_EQ(document.statistics().in_range.counted(), 36U);
  for (std::size_t n = 0; n < writer.nodes(); ++n) {
    const auto times = writer.times(n, 25, 60);
    const NodeTiming& timing = document.statistics().nodes.at(n).value();
    EXPECT_EQ(timing.count, 36U);
    EXPECT_EQ(timing.total_ns, sum(times));
    EXPECT_EQ(timing.min_ns, *std::min_element(times.begin(), times.end()));
    EXPECT_EQ(timing.max_ns, *std::max_element(times.begin(), times.end()));
    EXPECT_EQ(timing.p50_ns, sorted_quantile(times, 50));
    EXPECT_EQ(timing.p95_ns, sorted_quantile(times, 95));
  }
  std::uint64_t counted = 0;
  for (const HistogramBucket& bucket : document.histogram()) {
    counted += bucket.count;
  }
  EXPECT_EQ(counted, 36U);

  document.set_range(ReplayRange{0, 1000});  // the warm-up does not count
  document.settle();
  EXPECT_EQ(document.range(), (ReplayRange{0, 99}));
  EXPECT_EQ(document.statistics().replays, 99U);
  document.set_range({});
  document.settle();
  EXPECT_EQ(document.statistics().replays, 99U);
  EXPECT_EQ(document.statistics().nodes.at(0)->total_ns, sum(writer.times(0, 1, 99)));
}

TEST_F(DocumentTest, ReplayStatisticsAreOfTheRangeAndOfWhatIsAdded) {
  Writer writer(path_, "decode", 0, seed_);
  Document document(path_);
  EXPECT_EQ(document.replay_statistics().count, 0U);
  document.settle();
  EXPECT_EQ(document.replay_statistics().count, 0U);
  writer.replay(5);
  document.settle();
  EXPECT_EQ(document.replay_statistics().count, 5U);
  document.set_range(ReplayRange{1, 3});
  EXPECT_EQ(document.replay_statistics().count, 3U);
  document.set_range({});
  writer.replay(5);
  document.settle();
  EXPECT_EQ(document.replay_statistics().count, 10U);
  EXPECT_EQ(document.replay_statistics().p50_ns, replay_statistics(document.replays(), {}).p50_ns);
}

TEST_F(DocumentTest, ARangeCountsReplaysThatAreNotTimed) {
  Writer writer(path_, "decode", 0, seed_);
  writer.replay(10);
  writer.replay(30, TimingMode::replay);
  Document document(path_);
  document.settle();
  document.set_range(ReplayRange{5, 20});
  document.settle();
  EXPECT_EQ(document.statistics().replays, 5U);
  EXPECT_EQ(document.statistics().in_range.counted(), 16U);
}

TEST_F(DocumentTest, SumsUpALongRunAgainOnceItHasGrownOrEnds) {
  auto writer = std::make_unique<Writer>(path_, "decode", 0, seed_);
  writer->replay(600);
  Document document(path_);
  document.settle();
  EXPECT_EQ(document.replay_statistics().count, 600U);
  writer->fail();
  document.settle();
  EXPECT_EQ(document.replay_statistics().count, 601U);
  EXPECT_EQ(document.replay_statistics().failed, 0U);  // one of 601 is not worth all of them
  writer.reset();
  document.settle();
  EXPECT_EQ(document.replay_statistics().failed, 1U);
}

TEST_F(DocumentTest, FollowsAFileThatIsBeingWritten) {
  auto writer = std::make_unique<Writer>(path_, "decode", 1, seed_);
  Document document(path_);
  document.settle();
  EXPECT_TRUE(document.live());
  ASSERT_NE(document.capture(), nullptr);
  EXPECT_TRUE(document.replays().rows.empty());
  EXPECT_TRUE(document.statistics().nodes.empty());
  const auto capture = document.capture();
  std::size_t written = 0;
  for (const std::size_t more : {3U, 1U, 20U}) {
    writer->replay(more);
    written += more;
    document.settle();
    ASSERT_EQ(document.replays().rows.size(), written);
    EXPECT_EQ(document.statistics().replays, written - 1);  // sums or not: the writer's own time
  }
  document.show_replay(10);
  document.settle();
  ASSERT_EQ(document.step_times().size(), writer->steps(10).size());
  EXPECT_EQ(document.step_times()[2].duration_ns, writer->steps(10)[2]);
  writer.reset();
  document.settle();
  EXPECT_FALSE(document.live());
  EXPECT_EQ(document.capture(), capture);
  EXPECT_EQ(document.statistics().replays, written - 1);
  EXPECT_EQ(document.captures().at(0).exit_state, "done");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(DocumentTest, FollowsTheNewestReplayUntilAnotherOneIsShown) {
  Writer writer(path_, "decode", 1, seed_);
  writer.replay(3);
  Document document(path_);
  document.settle();
  document.follow_newest();
  EXPECT_EQ(document.shown_replay(), 2U);
  writer.replay(2);
  document.settle();
  EXPECT_EQ(document.shown_replay(), 4U);
  EXPECT_EQ(document.step_times().size(), writer.steps(4).size());
  document.show_replay(1);
  writer.replay(1);
  document.settle();
  EXPECT_EQ(document.shown_replay(), 1U);
  EXPECT_FALSE(document.follows_newest());
}

TEST_F(DocumentTest, KnowsOfARunThatIsAddedUntilACaptureIsChosen) {
  { const Writer first(path_, "decode", 1, seed_); }
  Document document(path_);
  document.settle();
  EXPECT_EQ(document.added_run(), std::nullopt);
  const Writer later(path_, "decode", 1, seed_);
  document.settle();
  ASSERT_TRUE(document.added_run());
  EXPECT_EQ(document.added_run()->run, 2);
  document.choose(document.capture()->summary.id);
  EXPECT_EQ(document.added_run(), std::nullopt);
}

TEST_F(DocumentTest, FollowsWithoutBeingAskedToSettle) {
  Writer writer(path_, "decode", 1, seed_);
  Document document(path_);
  EXPECT_TRUE(poll_until(document, [&] { return document.capture() != nullptr; }));
  writer.replay(5);
  EXPECT_TRUE(poll_until(document, [&] { return document.replays().rows.size() == 5; }));
  EXPECT_TRUE(poll_until(document, [&] { return document.statistics().replays == 4; }));
}

TEST_F(DocumentTest, AWriterThatFallsSilentIsDead) {
  const Writer writer(path_, "decode", 1, seed_);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  // Silent for some of the 10 s that a writer may be; the rest is time to read the file.
  const auto last = std::chrono::nanoseconds(now).count() - 4'000'000'000;
  const TempFolder copies;
  std::filesystem::copy(path_, copies / "copy.db");
  std::filesystem::copy(path_.string() + "-wal", copies / "copy.db-wal");
  sql(copies / "copy.db", "UPDATE runs SET heartbeat_ns=" + std::to_string(last));
  Document document(copies / "copy.db");
  document.settle();
  EXPECT_TRUE(document.live());
  EXPECT_TRUE(poll_until(document, [&] { return !document.live(); }));  // nothing changes the file
  EXPECT_EQ(document.captures().at(0).exit_state, "crashed");
}

TEST_F(DocumentTest, ChoosesTheCaptureWithTheMostReplaysOfTheLatestRun) {
  {
    Writer old(path_, "old", 0, seed_);
    old.replay(50);
  }
  {
    Writer writer(path_, "prefill", 1, seed_);
    writer.replay(2);
  }
  Document document(path_);
  document.settle();
  ASSERT_EQ(document.captures().size(), 2U);
  EXPECT_EQ(document.capture()->summary.name, "prefill");
  const auto first = document.capture();
  document.set_range(ReplayRange{0, 1});
  document.show_replay(1);
  document.choose(document.captures()[1].id);
  EXPECT_EQ(document.capture(), first);  // until the other is there
  document.settle();
  EXPECT_EQ(document.capture()->summary.name, "old");
  EXPECT_EQ(document.replays().rows.size(), 50U);
  EXPECT_EQ(document.range(), std::nullopt);
  EXPECT_EQ(document.shown_replay(), std::nullopt);
  document.choose({7, 7});  // no such capture
  document.settle();
  EXPECT_EQ(document.problem(), "");
  EXPECT_EQ(document.capture()->summary.name, "old");
}

TEST_F(DocumentTest, TheUserChoosesBeforeAnythingIsRead) {
  for (const char* name : {"first", "second"}) {
    Writer writer(path_, name, 0, seed_);
    writer.replay(1);
  }
  Document document(path_);
  document.choose({1, 1});
  document.settle();
  EXPECT_EQ(document.capture()->summary.name, "first");
}

TEST_F(DocumentTest, NodeTimesCanBeOfAnotherPhaseOrMode) {
  {
    Writer writer(path_, "decode", 0, seed_);
    writer.replay(5);
  }
  sql(path_,
      "CREATE TEMP TABLE other AS SELECT * FROM node_stats; UPDATE other SET phase='prefill', n=2, "
      "p50_ns=7, sum_ns=14; INSERT INTO node_stats SELECT * FROM other");
  Document document(path_);
  document.settle();
  ASSERT_EQ(document.timing_sources().size(), 2U);
  EXPECT_EQ(document.statistics().source.phase, "decode");
  document.choose_timing(document.timing_sources()[1]);
  document.settle();
  EXPECT_EQ(document.statistics().source.phase, "prefill");
  EXPECT_EQ(document.statistics().max_p50_ns, 7U);
  document.choose_timing({"nothing", TimingMode::off});
  EXPECT_EQ(document.statistics().source.phase, "prefill");
}

TEST_F(DocumentTest, ARunKilledBeforeItsFirstSumsHasStatistics) {
  std::vector<std::uint64_t> times;
  {
    Writer writer(path_, "decode", 1, seed_);
    writer.replay(8);
    times = writer.times(1, 1, 7);
  }
  sql(path_, "DELETE FROM node_stats");
  Document document(path_);
  document.show_histogram(1);
  document.settle();
  document.show_histogram(1);
  EXPECT_EQ(document.statistics().replays, 7U);
  EXPECT_EQ(document.statistics().nodes.at(1)->total_ns, sum(times));
  EXPECT_FALSE(document.histogram().empty());
}

TEST_F(DocumentTest, HistogramOfTheWholeTableIsTheWriters) {
  {
    Writer writer(path_, "decode", 0, seed_);
    writer.replay(500);
  }
  Document document(path_);
  document.settle();
  document.show_histogram(0);
  document.settle();
  const auto stored = read_node_histogram(path_, {1, 1}, "decode", TimingMode::node, 0);
  ASSERT_FALSE(stored.empty());
  ASSERT_EQ(document.histogram().size(), stored.size());
  EXPECT_EQ(document.histogram()[0].count, stored[0].count);
  document.show_histogram(99);  // no such node
  EXPECT_TRUE(document.histogram().empty());
}

TEST_F(DocumentTest, CapturesWithoutReplaysOrNodeTimesAreShown) {
  { const Writer none(path_, "never replayed", 0, seed_); }
  {
    Writer untimed(path_, "not timed", 0, seed_);
    untimed.replay(5, TimingMode::off);
  }
  Document document(path_);
  document.settle();
  EXPECT_EQ(document.capture()->summary.name, "not timed");
  EXPECT_TRUE(document.timing_sources().empty());
  EXPECT_TRUE(document.statistics().nodes.empty());
  document.set_range(ReplayRange{1, 2});
  document.show_replay(1);
  document.show_histogram(0);
  document.settle();
  EXPECT_TRUE(document.step_times().empty());
  EXPECT_TRUE(document.histogram().empty());
  document.choose({1, 1});
  document.settle();
  EXPECT_EQ(document.capture()->summary.name, "never replayed");
  document.set_range(ReplayRange{0, 0});
  EXPECT_EQ(document.range(), std::nullopt);
  EXPECT_EQ(document.problem(), "");
}

TEST_F(DocumentTest, WaitsForAFileThatIsNotThereYet) {
  Document document(path_);
  document.settle();
  EXPECT_NE(document.problem().find("no such file"), std::string::npos);
  EXPECT_FALSE(document.busy());
  EXPECT_TRUE(document.captures().empty());
  auto sink = open_profile(path_, {});
  document.settle();
  EXPECT_EQ(document.problem(), "");
  EXPECT_TRUE(document.captures().empty());  // a run without graphs
  sink.reset();
  Writer writer(path_, "decode", 0, seed_);
  document.settle();
  EXPECT_EQ(document.capture()->summary.name, "decode");
}

TEST_F(DocumentTest, KeepsTheLastGoodStateOfAFileThatGoesBad) {
  {
    Writer writer(path_, "decode", 1, seed_);
    writer.replay(5);
  }
  Document document(path_);
  document.settle();
  const auto good = document.capture();
  const auto broken = [&](const std::string& part) {
    document.settle();
    EXPECT_NE(document.problem().find(part), std::string::npos) << document.problem();
    EXPECT_EQ(document.capture(), good);
    EXPECT_EQ(document.statistics().replays, 4U);
    EXPECT_FALSE(document.live());
  };
  const std::filesystem::path whole = folder_ / "whole.db";
  std::filesystem::copy(path_, whole);
  std::filesystem::resize_file(path_, 50'000);
  broken("malformed");
  document.set_range(ReplayRange{1, 2});  // cannot be read
  document.show_replay(3);
  broken("malformed");
  std::ofstream(path_) << "something else";
  broken("is not a profiling database");
  std::filesystem::remove(path_);
  broken("no such file");
  std::filesystem::copy(whole, path_);
  document.settle();
  EXPECT_EQ(document.problem(), "");
  EXPECT_EQ(document.capture(), good);
  EXPECT_EQ(document.statistics().replays, 2U);  // of the range
  EXPECT_FALSE(document.step_times().empty());
  document.set_range({});
  sql(path_, "PRAGMA user_version=99");
  broken("schema version (99)");
}

TEST_F(DocumentTest, AFileThatCouldNotBeReadIsTriedAgainThoughItLooksTheSame) {
  {
    Writer writer(path_, "decode", 1, seed_);
    writer.replay(5);
  }
  Document document(path_);
  document.settle();
  const auto capture = document.capture();
  sql(path_, "UPDATE node_stats SET p50_ns=7");
  std::ifstream file(path_, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(file), {});
  const auto long_ago = std::filesystem::last_write_time(path_) - std::chrono::hours(1);
  overwrite(path_, std::string(good.size(), '?'));
  std::filesystem::last_write_time(path_, long_ago);
  document.settle();
  EXPECT_THAT(document.problem(), ::testing::HasSubstr("is not a profiling database"));
  document.settle();
  overwrite(path_, good);
  std::filesystem::last_write_time(path_, long_ago);
  EXPECT_TRUE(poll_until(document, [&] { return document.problem().empty(); }));
  EXPECT_EQ(document.capture(), capture);
  EXPECT_EQ(document.statistics().max_p50_ns, 7U);
}

TEST_F(DocumentTest, StepTimesThatNobodyWaitsForAnyMoreAreDropped) {
  {
    Writer writer(path_, "decode", 1, seed_);
    writer.replay(5);
  }
  Document document(path_);
  document.settle();
  document.show_replay(3);
  document.poll();  // starts to read them
  document.show_replay({});
  document.settle();
  EXPECT_TRUE(document.step_times().empty());

  const std::filesystem::path aside = folder_ / "aside.db";
  document.show_replay(3);
  std::filesystem::rename(path_, aside);
  document.poll();
  document.show_replay({});
  document.settle();
  std::filesystem::rename(aside, path_);
  document.settle();
  EXPECT_EQ(document.problem(), "");
  EXPECT_TRUE(document.step_times().empty());
}

TEST_F(DocumentTest, AFileOfTheSameNameIsAnotherCapture) {
  {
    Writer writer(path_, "before", 1, seed_);
    writer.replay(5);
  }
  Document document(path_);
  document.settle();
  document.set_range(ReplayRange{1, 2});
  document.show_replay(4);
  std::filesystem::remove(path_);
  {
    Writer writer(path_, "after", 0, seed_);
    writer.replay(2);
  }
  document.settle();
  EXPECT_EQ(document.capture()->summary.name, "after");
  EXPECT_EQ(document.replays().rows.size(), 2U);
  EXPECT_EQ(document.range(), std::nullopt);
  EXPECT_EQ(document.shown_replay(), std::nullopt);
  EXPECT_TRUE(document.step_times().empty());

  const auto shown = document.capture();
  std::filesystem::remove(path_);
  {
    Writer writer(path_, "after", 0, seed_);  // the same graph, but another run
    writer.replay(3);
  }
  document.settle();
  EXPECT_NE(document.capture(), shown);
  EXPECT_EQ(document.replays().rows.size(), 3U);
}

TEST_F(DocumentTest, ANewRunDoesNotTakeTheScreen) {
  {
    Writer writer(path_, "decode", 1, seed_);
    writer.replay(5);
  }
  Document document(path_);
  document.settle();
  const auto shown = document.capture();
  Writer writer(path_, "decode", 1, seed_ + 1);
  document.settle();
  EXPECT_EQ(document.captures().size(), 2U);
  EXPECT_EQ(document.capture(), shown);
  EXPECT_FALSE(document.live());
}

TEST_F(DocumentTest, ClosesWhileReadingAndLeavesTheFileToOthers) {
  {
    Writer writer(path_, "decode", 50, seed_);
    writer.replay(300);
  }
  for (int i = 0; i < 20; ++i) {
    Document document(path_);
    for (int polls = 0; polls < i * 20; ++polls) {
      document.poll();
    }
    document.set_range(ReplayRange{0, 299});
    document.poll();
  }
  EXPECT_EQ(open_descriptors_of(path_), 0) << "readers of closed documents are gone";
}

}  // namespace
}  // namespace reprise::debugger
