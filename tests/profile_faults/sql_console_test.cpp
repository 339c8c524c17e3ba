// Hostile SQL over a profiling database: nothing is created or changed, what never ends can be
// stopped, and memory is bounded.
#include <future>

#include <sqlite3.h>

#include "debugger/cli/db_commands.h"
#include "reprise/core/error.h"
#include "reprise/sql_query.h"
#include "tests/profile_cli/timed_database.h"
#include "tests/profile_faults/file_state.h"

namespace reprise {
namespace {

// Of SQLite in this process, where nothing else uses it.
constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;

constexpr const char* kAnswered[] = {
    "SELECT * FROM nodes",
    "PRAGMA table_info(nodes)",
    "EXPLAIN SELECT * FROM nodes",
    "SELECT max(label) FROM runs WHERE label='x''); DROP TABLE nodes;--'",
    "SELECT length(zeroblob(9000000) || zeroblob(7000000))",
    "SELECT printf('%.*c',1000000,'x')"};

constexpr const char* kRefused[] = {
    "DROP TABLE nodes",
    "DELETE FROM nodes",
    "UPDATE nodes SET op='x'",
    "INSERT INTO meta VALUES(9,'z')",
    "REPLACE INTO meta VALUES(9,'z')",
    "CREATE TABLE t(a)",
    "CREATE TEMP TABLE t(a)",
    "CREATE INDEX i ON nodes(op)",
    "ALTER TABLE nodes RENAME TO n",
    "ATTACH 'evil.db' AS e",
    "ATTACH 'file:evil2.db?mode=rwc' AS e",
    "ATTACH 'evil.db' AS e; CREATE TABLE e.t(a)",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO 'evil_vac.db'",
    "PRAGMA writable_schema=ON",
    "PRAGMA journal_mode=DELETE",
    "PRAGMA journal_mode=WAL",
    "PRAGMA query_only=0",
    "PRAGMA temp_store_directory='/tmp'",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA integrity_check",
    "PRAGMA hard_heap_limit=0",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_journal_mode('delete')",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('evil.txt', 'x')",
    "SELECT edit('x')",
    "SELECT hex(fts3_tokenizer('simple'))",
    "SELECT 1; DROP TABLE nodes",
    "BEGIN; DROP TABLE nodes",
    "SELECT length(zeroblob(900000000)||zeroblob(900000000))",
    "SELECT hex(randomblob(600000000))",
    "SELECT replace(hex(zeroblob(7000000)),'00',hex(zeroblob(1000)))",
};

constexpr const char* kEndless[] = {
    "WITH RECURSIVE r(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM r) SELECT count(*) FROM r",
    ("SELECT count(*) FROM nodes a, nodes b, nodes c, nodes d, nodes e, nodes f, nodes g, nodes h, "
     "nodes i, nodes j, nodes k, nodes l, nodes m, nodes n, nodes o"),
    "WITH RECURSIVE r(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM r) SELECT i FROM r WHERE i<0",
};

// Takes more than it may.
constexpr const char* kGreedy =
    "WITH RECURSIVE r(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM r LIMIT 100) SELECT "
    "zeroblob(15000000+i)||'x' AS x FROM r ORDER BY x";

class SqlConsole : public test::TimedDatabase {
 protected:
  SqlConsole() : before_(std::filesystem::current_path()) {
    test::write_run(path_, {.replays = 5});
    std::filesystem::current_path(folder_ / ".");  // where files without a folder would be made
    files_ = test::files_of(folder_ / ".");
  }
  ~SqlConsole() override {
    EXPECT_EQ(test::files_of(folder_ / "."), files_);
    std::filesystem::current_path(before_);
  }
  /// What it throws; "nothing" if it answers. Fails the test if SQLite takes too much meanwhile.
  std::string error_of(const std::string& query) {
    sqlite3_memory_highwater(1);
    const std::string error = test::error_of([&] { run_sql(path_, query); });
    EXPECT_LE(sqlite3_memory_highwater(0), kMaxBytes);
    return error;
  }
  std::string command_error_of(const std::string& query, cli::Format format) {
    return test::error_of([&] {
      test::printed([&] { cli::print_sql({path(), query, format, 100, 600}); });
    });
  }

 private:
  const std::filesystem::path before_;
  std::vector<std::pair<std::string, std::string>> files_;
};

TEST_F(SqlConsole, AnswersWhatOnlyReads) {
  for (const char* query : kAnswered) {
    SCOPED_TRACE(query);
    EXPECT_EQ(error_of(query), "nothing");
    EXPECT_EQ(command_error_of(query, cli::Format::csv), "nothing");
  }
}

TEST_F(SqlConsole, RefusesEverythingElse) {
  for (const char* query : kRefused) {
    SCOPED_TRACE(query);
    const std::string error = error_of(query);
    EXPECT_EQ(error.find("The query "), 0U) << error;
    EXPECT_EQ(command_error_of(query, cli::Format::json), error);
  }
}

TEST_F(SqlConsole, StopsWhatNeverEnds) {
  for (const char* query : kEndless) {
    SCOPED_TRACE(query);
    std::stop_source source;
    SqlLimits limits;
    limits.time = std::chrono::milliseconds::max();
    auto answer =
        std::async(std::launch::async, [&] { run_sql(path_, query, limits, source.get_token()); });
    source.request_stop();
    EXPECT_THROW(answer.get(), Cancelled);
  }
}

TEST_F(SqlConsole, EndsWhatTakesTooLong) {
  for (const char* query : kEndless) {
    SqlLimits limits;
    limits.time = std::chrono::milliseconds(20);
    EXPECT_EQ(test::error_of([&] { run_sql(path_, query, limits); }),
              "The query takes longer than (20 ms).");
  }
}

TEST_F(SqlConsole, RefusesWhatTakesTooMuchMemoryAndGoesOn) {
  EXPECT_EQ(error_of(kGreedy), "The query is refused: it takes more than 256 MiB of memory.");
  EXPECT_EQ(run_sql(path_, "SELECT count(*) FROM replays").rows.at(0).at(0),
            SqlValue(std::int64_t{5}));
}

TEST_F(SqlConsole, CountsTheValuesOfStatistics) {
  // Room for 524288 values each, which is 4 MiB.
  std::string query =
      "WITH RECURSIVE r(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM r LIMIT 262145) SELECT 1";
  for (int column = 0; column < 70; ++column) {
    query += ", median(i+" + std::to_string(column) + ")";  // equal ones would be one
  }
  EXPECT_EQ(error_of(query + " FROM r"),
            "The query is refused: it takes more than 256 MiB of memory.");
}

TEST_F(SqlConsole, RefusesManyLargeValuesAtOnce) {
  std::string query = "SELECT 1";
  for (int column = 0; column < 100; ++column) {
    query += ", hex(zeroblob(7500000))";
  }
  EXPECT_EQ(error_of(query), "The query is refused: it takes more than 256 MiB of memory.");
}

}  // namespace
}  // namespace reprise
