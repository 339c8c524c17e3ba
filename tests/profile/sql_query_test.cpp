// Somebody's SQL: what it returns, and what it must not do.
#include "reprise/sql_query.h"

#include <future>

#include "framework/profile/profile_snapshot.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::sql;
using test::TempFolder;

constexpr const char* kEndless =
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT max(n) FROM r";

class SqlQuery : public ::testing::Test {
 protected:
  SqlQuery() {
    const auto sink = open_profile(path_, test::run_info("test", "label"));
    sink->device(test::test_device());
    test::send_run(*sink, test::GraphMaker({}).make(), 5);
  }
  void refuse(const std::string& query, const std::vector<std::string>& parts) {
    SCOPED_TRACE(query);
    testing::expect_error(ErrorCode::invalid_argument, parts, [&] { run_sql(path_, query); });
  }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(SqlQuery, ReturnsNamesAndValuesAsStored) {
  const SqlResult result = run_sql(
      path_, "/* all kinds */ SELECT NULL AS a, -5, 2.5 AS \"b c\", 'x' || char(10), x'010203';  ");
  EXPECT_EQ(result.columns,
            (std::vector<std::string>{"a", "-5", "b c", "'x' || char(10)", "x'010203'"}));
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0], (std::vector<SqlValue>{std::monostate{}, std::int64_t{-5}, 2.5,
                                                   std::string("x\n"), BlobSize{3}}));
  EXPECT_FALSE(result.truncated);
  EXPECT_GT(result.elapsed.count(), 0);
}

TEST_F(SqlQuery, ReadsTheViewsAndDescriptionsOfTables) {
  EXPECT_EQ(run_sql(path_, "SELECT * FROM v_replays").rows.size(), 6U);
  EXPECT_EQ(run_sql(path_, "SELECT seq FROM replays WHERE seq>2 ORDER BY seq DESC").rows[0],
            std::vector<SqlValue>{std::int64_t{5}});
  EXPECT_EQ(run_sql(path_, "PRAGMA table_info(pools)").rows.size(), 4U);
  EXPECT_FALSE(run_sql(path_, "EXPLAIN QUERY PLAN SELECT * FROM replays").rows.empty());
  EXPECT_EQ(run_sql(path_, "SELECT * FROM runs WHERE 0").columns[0], "id");
}

TEST_F(SqlQuery, OnlyReads) {
  const std::string before = sql(path_, "SELECT * FROM replays; SELECT * FROM sqlite_schema");
  for (const char* query :
       {"DELETE FROM replays", "UPDATE runs SET app='x'", "INSERT INTO meta VALUES('a','b')",
        "CREATE TABLE t(x)", "CREATE TEMP TABLE t(x)", "DROP TABLE runs",
        "ATTACH ':memory:' AS other", "PRAGMA user_version=7", "PRAGMA journal_mode=DELETE",
        "PRAGMA writable_schema=1", "REINDEX", "ANALYZE", "BEGIN", "COMMIT", "SAVEPOINT s",
        "CREATE VIRTUAL TABLE v USING fts5(x)"}) {
    refuse(query, {"does not only read"});
  }
  refuse("VACUUM", {"VACUUM"});
  refuse("VACUUM INTO '" + (folder_ / "copy.db").string() + "'", {"VACUUM"});
  refuse("SELECT load_extension('x')", {"load_extension"});
  EXPECT_EQ(sql(path_, "SELECT * FROM replays; SELECT * FROM sqlite_schema"), before);
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(SqlQuery, IsOneStatement) {
  refuse("", {"is empty"});
  refuse("  -- nothing", {"is empty"});
  refuse("SELECT 1; SELECT 2", {"more than one statement"});
  refuse("SELECT 1; and more", {"syntax error"});
  refuse(std::string("SELECT 1;\0SELECT 2", 18), {"NUL"});
  refuse("SELEC 1", {"near \"SELEC\": syntax error"});
  refuse("SELECT * FROM nowhere", {"no such table: nowhere"});
  refuse("SELECT abs(-9223372036854775808)", {"integer overflow"});
  refuse("SELECT zeroblob(1000000000)", {"too big"});
  EXPECT_EQ(run_sql(path_, "SELECT 1; ; -- done").rows.size(), 1U);
}

TEST_F(SqlQuery, ResultsAreBounded) {
  SqlLimits limits;
  limits.rows = 3;
  limits.text_bytes = 4;
  const SqlResult result = run_sql(path_, "SELECT seq, 'abcdefgh' FROM replays", limits);
  EXPECT_EQ(result.rows.size(), 3U);
  EXPECT_TRUE(result.truncated);
  EXPECT_EQ(result.rows[0][1], SqlValue(std::string("abcd")));
  limits.rows = 6;
  EXPECT_FALSE(run_sql(path_, "SELECT seq FROM replays", limits).truncated);
  const SqlResult wide =
      run_sql(path_,
              "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r LIMIT 5000) SELECT "
              "printf('%.*c', 65536, 'x') FROM r");
  EXPECT_TRUE(wide.truncated);  // 64 MiB are enough
  EXPECT_LT(wide.rows.size(), 1100U);
}

TEST_F(SqlQuery, EndsInTime) {
  SqlLimits limits;
  limits.time = std::chrono::milliseconds(5);
  testing::expect_error(ErrorCode::timeout, {"(5 ms)"}, [&] { run_sql(path_, kEndless, limits); });
}

TEST_F(SqlQuery, CanBeCancelled) {
  std::stop_source source;
  SqlLimits limits;
  limits.time = std::chrono::milliseconds::max();
  auto answer =
      std::async(std::launch::async, [&] { run_sql(path_, kEndless, limits, source.get_token()); });
  source.request_stop();
  EXPECT_THROW(answer.get(), Cancelled);
}

TEST_F(SqlQuery, AnswersWhileTheFileIsWritten) {
  const auto sink = open_profile(path_, test::run_info("test", "second"));
  EXPECT_EQ(run_sql(path_, "SELECT label FROM runs ORDER BY id").rows[1],
            std::vector<SqlValue>{std::string("second")});
}

TEST_F(SqlQuery, AnswersFromTheLogOfAFileThatALinkNames) {
  const TempFolder other;
  std::filesystem::create_symlink(path_, other / "link.db");
  const auto sink = open_profile(path_, test::run_info("test", "second"));
  EXPECT_EQ(run_sql(other / "link.db", "SELECT label FROM runs").rows.size(), 2U);
  EXPECT_EQ(
      profile::bytes_with_log(other / "link.db"),
      std::filesystem::file_size(path_) + std::filesystem::file_size(folder_ / "profile.db-wal"));
}

}  // namespace
}  // namespace reprise
