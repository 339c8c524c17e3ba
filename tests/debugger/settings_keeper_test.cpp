#include "debugger/app/settings_keeper.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/profile/recorded_graphs.h"

namespace reprise::debugger {
namespace {

using std::chrono::milliseconds;

class SettingsKeeperTest : public ::testing::Test {
 protected:
  const test::TempFolder folder_;
  const std::filesystem::path file_ = folder_ / "debugger.json";
  Settings used_;
  SettingsKeeper keeper_{file_, [this] { return used_; }};
  SettingsKeeper::Clock::time_point start_{};
};

TEST_F(SettingsKeeperTest, WritesAChangeASecondLater) {
  keeper_.look(start_);
  used_.light = true;
  keeper_.look(start_ + milliseconds(100));
  keeper_.look(start_ + milliseconds(1099));
  EXPECT_FALSE(std::filesystem::exists(file_));
  keeper_.look(start_ + milliseconds(1100));
  EXPECT_EQ(read_settings(file_), used_);
}

TEST_F(SettingsKeeperTest, WritesChangesThatFollowEachOtherOnce) {
  used_.layouts[0].all.size = 300;
  keeper_.look(start_);
  used_.layouts[0].all.size = 301;
  keeper_.look(start_ + milliseconds(900));
  keeper_.look(start_ + milliseconds(1800));
  EXPECT_FALSE(std::filesystem::exists(file_));
  keeper_.look(start_ + milliseconds(1900));
  EXPECT_EQ(read_settings(file_), used_);
}

TEST_F(SettingsKeeperTest, WritesNothingThatIsAsItWas) {
  keeper_.look(start_);
  keeper_.look(start_ + milliseconds(5000));
  EXPECT_TRUE(keeper_.finish());
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(SettingsKeeperTest, WritesWhatTheProgramWasStartedWith) {
  used_.light = true;
  SettingsKeeper keeper(file_, [this] { return used_; });
  EXPECT_TRUE(keeper.finish());
  EXPECT_EQ(read_settings(file_), used_);
}

TEST_F(SettingsKeeperTest, WritesTheRestAtTheEnd) {
  used_.zoom = 3;
  EXPECT_TRUE(keeper_.finish());
  EXPECT_EQ(read_settings(file_), used_);
}

TEST_F(SettingsKeeperTest, LeavesWhatAnotherWindowWrote) {
  Settings others;
  others.zoom = -1;
  others.filters["/b.db"] = "idx=7";
  ASSERT_TRUE(write_settings(others, file_));
  used_.light = true;
  used_.filters["/a.db"] = "op:add";
  EXPECT_TRUE(keeper_.finish());
  others.light = true;
  others.filters["/a.db"] = "op:add";
  EXPECT_EQ(read_settings(file_), others);
}

TEST_F(SettingsKeeperTest, RemovesWhatIsNoLongerInUse) {
  used_.filters["/a.db"] = "op:add";
  keeper_.look(start_);
  keeper_.look(start_ + milliseconds(1000));
  used_.filters.clear();
  EXPECT_TRUE(keeper_.finish());
  EXPECT_EQ(read_settings(file_), Settings());
}

TEST_F(SettingsKeeperTest, SaysAtTheEndThatItCouldNotWrite) {
  std::filesystem::create_directories(file_ / "in the way");
  used_.zoom = 3;
  keeper_.look(start_);
  keeper_.look(start_ + milliseconds(5000));
  EXPECT_FALSE(keeper_.finish());
}

}  // namespace
}  // namespace reprise::debugger
