#include "debugger/model/query_runner.h"

#include <gtest/gtest.h>

#include "tests/profile/recorded_graphs.h"

namespace reprise::debugger {
namespace {

constexpr const char* kEndless =
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT max(n) FROM r";

class QueryRunnerTest : public ::testing::Test {
 protected:
  QueryRunnerTest() { open_profile(path_, test::run_info("test", "label")); }
  test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  QueryRunner runner_{path_};
};

TEST_F(QueryRunnerTest, RunsOneQueryAfterTheOther) {
  EXPECT_EQ(runner_.result(), nullptr);
  EXPECT_FALSE(runner_.poll());
  runner_.run("SELECT label FROM runs");
  EXPECT_TRUE(runner_.running());
  runner_.settle();
  EXPECT_FALSE(runner_.running());
  ASSERT_NE(runner_.result(), nullptr);
  EXPECT_EQ(runner_.result()->rows[0][0], SqlValue(std::string("label")));
  runner_.run("SELECT absent FROM runs");
  runner_.settle();
  EXPECT_EQ(runner_.result(), nullptr);
  EXPECT_NE(runner_.error().find("no such column"), std::string::npos);
  runner_.run("SELECT 2");
  runner_.settle();
  EXPECT_EQ(runner_.error(), "");
  EXPECT_EQ(runner_.result()->rows[0][0], SqlValue(std::int64_t{2}));
}

TEST_F(QueryRunnerTest, ACancelledQueryLeavesTheResultBefore) {
  runner_.run("SELECT 1");
  runner_.settle();
  runner_.run(kEndless);
  runner_.cancel();
  runner_.settle();
  ASSERT_NE(runner_.result(), nullptr);
  EXPECT_EQ(runner_.result()->rows[0][0], SqlValue(std::int64_t{1}));
}

TEST_F(QueryRunnerTest, ANewQueryCancelsTheOneThatRuns) {
  runner_.run(kEndless);
  runner_.run("SELECT 2");
  runner_.run("SELECT 3");
  runner_.settle();
  EXPECT_EQ(runner_.result()->rows[0][0], SqlValue(std::int64_t{3}));
}

TEST_F(QueryRunnerTest, EndsWhileAQueryRuns) {
  QueryRunner other(path_);
  other.run(kEndless);
}

}  // namespace
}  // namespace reprise::debugger
