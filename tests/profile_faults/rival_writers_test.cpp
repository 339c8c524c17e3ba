// Two writers that open one file at once: who fails takes nothing away from the other.
#include <sqlite3.h>

#include "framework/profile/profile_sink.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/profile_faults/file_state.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::TempFolder;

/// Runs once in the middle of the next opening of a file by SQLite, which fails then.
struct Interruption {
  std::function<void()> action;
  bool begun = false;
};
Interruption interruption;

int interrupt(sqlite3* /*database*/, char** /*message*/, const sqlite3_api_routines* /*api*/) {
  if (interruption.begun) {
    return SQLITE_OK;  // of what the action opens
  }
  interruption.begun = true;
  interruption.action();
  return SQLITE_ERROR;
}

TEST(RivalWriters, OneThatFailsToOpenAFileItMadeLeavesItToTheOneThatHasIt) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "profile.db";
  std::shared_ptr<ProfileSink> rival;
  interruption = {[&] {
    ASSERT_TRUE(std::filesystem::exists(path)) << "the first writer makes the file";
    rival = open_profile(path, {.app = "rival"});
  }};
  auto* const entry = reinterpret_cast<void (*)()>(&interrupt);
  ASSERT_EQ(sqlite3_auto_extension(entry), SQLITE_OK);
  EXPECT_THROW(open_profile(path, {.app = "first"}), Error);
  sqlite3_cancel_auto_extension(entry);
  ASSERT_NE(rival, nullptr);
  EXPECT_TRUE(std::filesystem::exists(path));
  rival.reset();
  EXPECT_EQ(test::sql(path, "SELECT group_concat(app) FROM runs"), "rival");
}

TEST(RivalWriters, OneThatFailsAloneLeavesNothing) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "profile.db";
  interruption = {[] {}};
  auto* const entry = reinterpret_cast<void (*)()>(&interrupt);
  ASSERT_EQ(sqlite3_auto_extension(entry), SQLITE_OK);
  EXPECT_THROW(open_profile(path, {}), Error);
  sqlite3_cancel_auto_extension(entry);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace reprise
