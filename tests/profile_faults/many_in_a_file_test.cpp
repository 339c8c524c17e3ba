// Many replays and many graphs in one file: what is kept stays within its budget, memory does not
// grow, nothing is missing.
#include <set>

#include "framework/profile/capture_reader.h"
#include "framework/profile/profile_reader.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/profile_faults/file_state.h"
#include "tests/soak/process_use.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::sql;
using test::TempFolder;

constexpr std::uint64_t kBudgetBytes = 32'000;  // of the times of about 670 replays
constexpr double kMaxGrowth = 1024;             // bytes of memory per 10^4 replays

class ManyInAFile : public ::testing::Test {
 protected:
  const std::uint64_t seed_ = testing::test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, testing::seed_note(seed_)};
  std::mt19937_64 random_{seed_};
  const TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";

  /// Sends timed replays; memory over their number, the first fifth left out.
  std::vector<soak::Sample> replay(ProfileSink& sink, std::uint64_t replays) {
    const auto graph = test::GraphMaker({.scales = 2}).make();
    std::vector<std::uint64_t> ticks(graph->steps.size() + 1);
    ReplayRecord record;
    record.recording = test::send_recording(sink, graph);
    record.timing_mode = TimingMode::node;
    record.step_ticks = ticks;
    std::vector<soak::Sample> samples;
    samples.reserve(500);
    for (std::uint64_t r = 0; r < replays; ++r) {
      record.sequence = record.submission = ticks.front() = r + 1;
      for (std::size_t s = 1; s < ticks.size(); ++s) {
        ticks[s] = ticks[s - 1] + 100 + random_() % 1000;
      }
      sink.replay(record);
      if (r % 1000 == 999) {
        sink.flush();  // the ring does not run full
      }
      if (r >= replays / 5 && r % (replays / 400) == 0) {
        samples.push_back({static_cast<double>(r), static_cast<double>(soak::used_bytes())});
      }
    }
    sink.flush();
    return samples;
  }

  void replay_within_budget(std::uint64_t replays, bool measure_memory) {
    ProfileHealth health;
    double growth = 0;
    {
      ProfileLimits limits;
      limits.step_timing_bytes = kBudgetBytes;
      const auto sink = open_profile(path_, {}, {}, limits);
      sink->device(test::nanosecond_device());
      growth = soak::slope(replay(*sink, replays)) * 1e4;
      health = sink->health();
    }
    EXPECT_EQ(health.replays_committed, replays);
    EXPECT_EQ(health.replays_dropped + health.timings_dropped + health.records_dropped, 0U);
    EXPECT_EQ(sql(path_, "SELECT count(*) FROM replays"), std::to_string(replays));
    EXPECT_LE(std::stoull(sql(path_, "SELECT sum(length(data)) FROM step_timings")), kBudgetBytes);
    EXPECT_EQ(sql(path_, "SELECT DISTINCT n FROM node_stats"), std::to_string(replays));
    // A replay has a row and an entry of an index.
    constexpr std::uint64_t kBytesPerReplay = 120;
    constexpr std::uint64_t kBytesOfAFile = std::uint64_t{1} << 20;
    const std::uint64_t bytes = std::filesystem::file_size(path_);
    EXPECT_LE(bytes, kBytesOfAFile + 2 * kBudgetBytes + replays * kBytesPerReplay);
    EXPECT_EQ(test::findings(path_), "");
    if (measure_memory) {
      EXPECT_LT(growth, kMaxGrowth);
    }
    std::printf("%llu replays: %llu bytes, memory grows by %.1f bytes per 10^4 replays\n",
                static_cast<unsigned long long>(replays), static_cast<unsigned long long>(bytes),
                growth);
  }

  void list_graphs(std::uint64_t graphs) {
    std::set<std::string> names;
    {
      const auto sink = open_profile(path_, {});
      sink->device(test::nanosecond_device());
      for (std::uint64_t g = 0; g < graphs; ++g) {
        const std::string name = "graph " + std::to_string(g);
        names.insert(name);
        test::send_recording(*sink, test::GraphMaker({.name = name}).make());
        if (g % 100 == 99) {
          sink->flush();
        }
      }
    }
    std::set<std::string> listed;
    for (const CaptureSummary& capture : read_captures(path_)) {
      EXPECT_EQ(capture.nodes, 3U);
      listed.insert(capture.name);
    }
    EXPECT_TRUE(listed == names) << listed.size() << " are listed";
    listed.clear();
    for (const GraphSummary& graph : read_profile_info(path_).graphs) {
      EXPECT_EQ(graph.steps, 3U);
      listed.insert(graph.name);
    }
    EXPECT_TRUE(listed == names) << listed.size() << " are listed";
    EXPECT_EQ(test::findings(path_), "");
  }
};
using LongManyInAFile = ManyInAFile;

TEST_F(ManyInAFile, ReplaysKeepToTheBudget) { replay_within_budget(20'000, false); }
TEST_F(ManyInAFile, GraphsAreAllListed) { list_graphs(300); }
TEST_F(LongManyInAFile, AMillionReplaysKeepToTheBudgetAndMemory) {
  replay_within_budget(1'000'000, true);
}
TEST_F(LongManyInAFile, TenThousandGraphsAreAllListed) { list_graphs(10'000); }

}  // namespace
}  // namespace reprise
