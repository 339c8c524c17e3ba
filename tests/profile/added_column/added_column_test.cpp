// A column that was added to the schema, sessions.colour, is known to all that treat tables alike.
#include "framework/profile/profile_check.h"
#include "framework/profile/profile_rewrite.h"
#include "framework/profile/profile_sink.h"
#include "framework/profile/schema.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::sql;

constexpr const char* kCounted = "SELECT count(*) FROM sessions WHERE colour='red'";

class AddedColumn : public ::testing::Test {
 protected:
  /// Of version 2, brought to this one, its sessions coloured.
  AddedColumn() {
    std::filesystem::copy_file(std::filesystem::path(REPRISE_PROFILE_VERSIONS_DIR) / "v2.db",
                               path_);
    open_profile(path_, {});
    EXPECT_EQ(sql(path_, "UPDATE sessions SET colour='red'"), "");
    sessions_ = sql(path_, kCounted);
    EXPECT_NE(sessions_, "0");
  }

  const test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "old.db";
  std::string sessions_;
};

TEST_F(AddedColumn, IsInNewFiles) {
  open_profile(folder_ / "new.db", {});
  EXPECT_EQ(sql(folder_ / "new.db", kCounted), "0");
}

TEST_F(AddedColumn, IsNoFaultOfAFile) { EXPECT_TRUE(check_profile(path_).empty()); }

TEST_F(AddedColumn, IsMerged) {
  merge_profiles(std::array{path_}, folder_ / "merged.db");
  EXPECT_EQ(sql(folder_ / "merged.db", kCounted), sessions_);
}

TEST_F(AddedColumn, IsPrivateUntilSomebodySaysOtherwise) {
  scrub_profile(path_, folder_ / "scrubbed.db");
  EXPECT_EQ(sql(folder_ / "scrubbed.db", "SELECT count(colour) FROM sessions"), "0");
  EXPECT_EQ(sql(folder_ / "scrubbed.db", "SELECT count(*) FROM sessions"), sessions_);
}

TEST_F(AddedColumn, StaysWhenOthersGo) {
  prune_profile(path_, {.keep_replays = 1});
  EXPECT_EQ(sql(path_, kCounted), sessions_);
}

}  // namespace
}  // namespace reprise
