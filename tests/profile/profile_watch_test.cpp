#include <fstream>

#include <gtest/gtest.h>

#include "framework/profile/capture_reader.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"

namespace reprise {
namespace {

using test::TempFolder;

/// Asks until the file has rested long enough to be told apart from a later change.
void settle(ProfileWatch& watch) {
  while (watch.changed()) {
  }
}

class ProfileWatchTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(ProfileWatchTest, EveryCommitIsAChange) {
  const auto sink = open_profile(path_, {});
  sink->device(test::test_device());
  const std::uint64_t recording = test::send_recording(*sink, test::GraphMaker({}).make());
  ProfileWatch watch(path_);
  EXPECT_TRUE(watch.changed());
  for (int i = 0; i < 20; ++i) {
    if (i % 2 == 0) {
      settle(watch);  // the others follow at once, within one step of file times
    }
    ReplayRecord replay;
    replay.recording = recording;
    sink->replay(replay);
    sink->flush();
    EXPECT_TRUE(watch.changed());
  }
}

TEST_F(ProfileWatchTest, CommitsBehindALinkAreChanges) {
  const TempFolder other;
  const auto sink = open_profile(path_, {});
  std::filesystem::create_symlink(path_, other / "link.db");
  ProfileWatch watch(other / "link.db");
  settle(watch);
  sink->device(test::test_device());
  sink->flush();
  EXPECT_TRUE(watch.changed());
}

TEST_F(ProfileWatchTest, AFileThatRestsDoesNotChange) {
  open_profile(path_, {});
  ProfileWatch watch(path_);
  settle(watch);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(watch.changed());
  }
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(ProfileWatchTest, ComingGoingAndReplacingAreChanges) {
  ProfileWatch watch(path_);
  EXPECT_TRUE(watch.changed());
  settle(watch);
  EXPECT_FALSE(watch.changed());
  open_profile(path_, {});
  EXPECT_TRUE(watch.changed());
  settle(watch);
  open_profile(folder_ / "other.db", {});
  std::filesystem::rename(folder_ / "other.db", path_);
  EXPECT_TRUE(watch.changed());
  settle(watch);
  std::filesystem::resize_file(path_, 100);
  EXPECT_TRUE(watch.changed());
  settle(watch);
  std::filesystem::remove(path_);
  EXPECT_TRUE(watch.changed());
  settle(watch);
  EXPECT_FALSE(watch.changed());
}

TEST_F(ProfileWatchTest, FollowsAWriterWithoutItsLogStaying) {
  auto sink = open_profile(path_, {});
  ProfileWatch watch(path_);
  settle(watch);
  sink.reset();
  EXPECT_TRUE(watch.changed());
  EXPECT_EQ(folder_.files(), 1U);
}

}  // namespace
}  // namespace reprise
