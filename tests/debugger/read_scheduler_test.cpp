#include "debugger/model/read_scheduler.h"

#include <gtest/gtest.h>

#include "reprise/sql_query.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

constexpr const char* kEndless =
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT max(n) FROM r";

using Query = Read<std::string, SqlResult>;

SqlResult query(const std::filesystem::path& path, const std::string& sql,
                const std::stop_token& stop) {
  return run_sql(path, sql, {}, stop);
}

class ReadSchedulerTest : public ::testing::Test {
 protected:
  ReadSchedulerTest() { open_profile(path_, test::run_info("test", "label")); }
  static SqlValue cell_of(const Query& read) {
    return read.value() == nullptr ? SqlValue() : read.value()->rows[0][0];
  }
  test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  ReadScheduler scheduler_{path_};
  Query query_{query};
};

TEST_F(ReadSchedulerTest, ReadsOneKeyAfterTheOther) {
  EXPECT_EQ(query_.value(), nullptr);
  EXPECT_FALSE(scheduler_.poll());
  query_.ask(scheduler_, "SELECT label FROM runs");
  EXPECT_TRUE(query_.running());
  EXPECT_TRUE(scheduler_.busy());
  scheduler_.settle();
  EXPECT_FALSE(query_.running());
  EXPECT_EQ(cell_of(query_), SqlValue(std::string("label")));
  query_.ask(scheduler_, "SELECT absent FROM runs");
  scheduler_.settle();
  EXPECT_EQ(query_.value(), nullptr);
  EXPECT_NE(query_.problem().find("no such column"), std::string::npos);
  query_.ask(scheduler_, "SELECT 2");
  scheduler_.settle();
  EXPECT_EQ(query_.problem(), "");
  EXPECT_EQ(cell_of(query_), SqlValue(std::int64_t{2}));
}

TEST_F(ReadSchedulerTest, ACancelledReadLeavesTheValueBefore) {
  query_.ask(scheduler_, "SELECT 1");
  scheduler_.settle();
  query_.ask(scheduler_, kEndless);
  query_.cancel();
  scheduler_.settle();
  EXPECT_EQ(cell_of(query_), SqlValue(std::int64_t{1}));
}

TEST_F(ReadSchedulerTest, ANewRequestCancelsTheOneThatRuns) {
  query_.ask(scheduler_, kEndless);
  query_.ask(scheduler_, "SELECT 2");
  query_.ask(scheduler_, "SELECT 3");
  scheduler_.settle();
  EXPECT_EQ(cell_of(query_), SqlValue(std::int64_t{3}));
}

TEST_F(ReadSchedulerTest, ShowsNoValueOfADifferentKey) {
  EXPECT_TRUE(query_.show(scheduler_, "SELECT 1"));
  scheduler_.settle();
  const std::uint64_t revision = query_.revision();
  EXPECT_FALSE(query_.show(scheduler_, "SELECT 1"));
  EXPECT_FALSE(query_.running());
  EXPECT_TRUE(query_.show(scheduler_, "SELECT 2"));
  EXPECT_EQ(query_.value(), nullptr);
  EXPECT_NE(query_.revision(), revision);
  EXPECT_TRUE(query_.show(scheduler_, "SELECT 3"));
  scheduler_.settle();
  EXPECT_EQ(cell_of(query_), SqlValue(std::int64_t{3}));
  query_.show(scheduler_, "SELECT 4");
  while (!scheduler_.wait()) {
  }
  query_.forget();  // found, but not taken over
  scheduler_.settle();
  EXPECT_EQ(query_.value(), nullptr);
}

TEST_F(ReadSchedulerTest, FollowsTheFileWithTheValueBeforeOnTheScreen) {
  Query followed(query, Follow::file);
  scheduler_.look();
  for (Query* const read : {&followed, &query_}) {
    read->show(scheduler_, "SELECT count(*) FROM runs");
  }
  scheduler_.settle();
  ASSERT_EQ(test::sql(path_, "DELETE FROM runs"), "");
  scheduler_.look();
  EXPECT_EQ(cell_of(followed), SqlValue(std::int64_t{1}));
  scheduler_.settle();
  EXPECT_EQ(cell_of(followed), SqlValue(std::int64_t{0}));
  EXPECT_EQ(cell_of(query_), SqlValue(std::int64_t{1}));
}

TEST_F(ReadSchedulerTest, CancelsWhatNobodyLooksAtAndReadsItAnewLater) {
  for (int frame = 0; frame < 3; ++frame) {
    scheduler_.begin_frame();
    EXPECT_EQ(query_.show(scheduler_, kEndless), frame == 0);
  }
  EXPECT_TRUE(query_.running());
  scheduler_.begin_frame();
  scheduler_.begin_frame();
  scheduler_.settle();  // would not return
  EXPECT_FALSE(query_.running());
  EXPECT_TRUE(query_.show(scheduler_, kEndless));
  query_.forget();
}

TEST_F(ReadSchedulerTest, ReadsToItsEndWhatWasAskedForOnce) {
  query_.ask(scheduler_, "SELECT 1");
  for (int frame = 0; frame < 3; ++frame) {
    scheduler_.begin_frame();
  }
  scheduler_.settle();
  EXPECT_EQ(cell_of(query_), SqlValue(std::int64_t{1}));
}

TEST_F(ReadSchedulerTest, FollowsTheFileOnlyInSight) {
  Query followed(query, Follow::file);
  const auto look = [&] { followed.show(scheduler_, "SELECT count(*) FROM runs"); };
  look();
  scheduler_.settle();
  ASSERT_EQ(test::sql(path_, "DELETE FROM runs"), "");
  scheduler_.begin_frame();
  scheduler_.begin_frame();
  scheduler_.settle();
  EXPECT_EQ(cell_of(followed), SqlValue(std::int64_t{1}));
  look();
  scheduler_.settle();
  EXPECT_EQ(cell_of(followed), SqlValue(std::int64_t{0}));
}

TEST_F(ReadSchedulerTest, EndsWhileAReadRunsInEitherOrder) {
  {
    Query shorter(query);
    shorter.ask(scheduler_, kEndless);
  }
  EXPECT_FALSE(scheduler_.busy());
  {
    ReadScheduler shorter(path_);
    query_.ask(shorter, kEndless);
  }
  EXPECT_FALSE(query_.running());
}

}  // namespace
}  // namespace reprise::debugger
