// The reader against what was written, live files, and files that are damaged or something else.
#include "framework/profile/profile_reader.h"

#include <chrono>
#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "framework/profile/profile_snapshot.h"
#include "reprise/core/error.h"
#include "tests/file_contents.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/seed.h"

namespace reprise {
namespace {

using test::GraphMaker;
using test::GraphOptions;
using test::run_info;
using test::send_run;
using test::sql;
using test::TempFolder;
using test::test_device;

void write_run(const std::filesystem::path& path, const std::string& label) {
  const GraphOptions options;
  const auto sink = open_profile(path, run_info("reader test", label));
  sink->device(test_device());
  send_run(*sink, GraphMaker(options).make(), 5);
}

std::string refusal(const std::filesystem::path& path) {
  try {
    read_profile_info(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.what();
  }
  return "";
}

TEST(ProfileReader, RefusesTextsThatAViewMakesTooLarge) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  write_run(path, "first");
  ASSERT_EQ(sql(path, "CREATE VIEW large AS SELECT length(hex(zeroblob(9000000))) AS bytes"), "");
  const auto read = [](profile::Database& database) {
    return database.integer("SELECT bytes FROM large");
  };
  try {
    profile::read_snapshot(path, {}, read);
    ADD_FAILURE() << "it is read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("too big"), std::string::npos) << error.what();
  }
}

TEST(ProfileReader, SummarisesRunsGraphsAndTables) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  write_run(path, "first");
  write_run(path, "second");
  const DatabaseInfo info = read_profile_info(path);
  EXPECT_EQ(folder.files(), 1U);
  EXPECT_EQ(info.schema_version, 3);
  EXPECT_EQ(info.bytes, std::filesystem::file_size(path));
  ASSERT_EQ(info.runs.size(), 2U);
  EXPECT_EQ(info.runs[1].label, "second");
  EXPECT_EQ(info.runs[1].app, "reader test");
  EXPECT_EQ(info.runs[1].device, "Test GPU");
  EXPECT_EQ(info.runs[1].exit_state, "done");
  EXPECT_EQ(info.runs[1].recordings, 1U);
  EXPECT_EQ(info.runs[1].replays, 6U);
  ASSERT_EQ(info.graphs.size(), 1U);
  const GraphSummary& graph = info.graphs[0];
  EXPECT_EQ(graph.name, "decode");
  EXPECT_EQ(graph.nodes, 3U);
  EXPECT_EQ(graph.steps, 3U);
  EXPECT_EQ(graph.barriers, 2U);
  EXPECT_EQ(graph.replays, 12U);
  EXPECT_EQ(graph.median_device_ns, 5003);
  EXPECT_EQ(graph.median_submit_ns, 103);
  EXPECT_GE(graph.naive_bytes, graph.arena_bytes);
  std::map<std::string, std::uint64_t> rows;
  for (const TableSummary& table : info.tables) {
    rows[table.name] = table.rows;
  }
  EXPECT_EQ(rows["replays"], 12U);
  EXPECT_EQ(rows["graphs"], 1U);
  EXPECT_EQ(rows.count("node_stats"), 1U);
}

TEST(ProfileReader, ReadsAFileThatIsBeingWritten) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  const auto sink = open_profile(path, run_info("", "live"));
  const DatabaseInfo info = read_profile_info(path);
  ASSERT_EQ(info.runs.size(), 1U);
  EXPECT_EQ(info.runs[0].label, "live");
  EXPECT_EQ(info.runs[0].exit_state, "running");
  sql(path, "UPDATE runs SET heartbeat_ns=0");
  EXPECT_EQ(read_profile_info(path).runs[0].exit_state, "crashed");
}

/// A file that somebody writes, and leaves without a log, while it is read for the first time.
class DisturbedReading : public ::testing::Test {
 protected:
  DisturbedReading() {
    write_run(path_, "first");
    // File times are coarse: an hour ago is another time than now.
    std::filesystem::last_write_time(
        path_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  void write() { EXPECT_EQ(sql(path_, "UPDATE runs SET label='second'"), ""); }

  const TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  std::size_t readings_ = 0;
};

TEST_F(DisturbedReading, IsRepeated) {
  std::int64_t is_second = 0;
  profile::read_snapshot(path_, {}, [&](profile::Database& database) {
    is_second = database.integer("SELECT label='second' FROM runs");
    if (++readings_ == 1) {
      write();
    }
  });
  EXPECT_EQ(readings_, 2U);
  EXPECT_EQ(is_second, 1);
}

TEST_F(DisturbedReading, IsRepeatedWhenItFailed) {
  profile::read_snapshot(path_, {}, [&](profile::Database&) {
    if (++readings_ == 1) {
      write();
      throw Error(ErrorCode::io, "A page is of another moment.");
    }
  });
  EXPECT_EQ(readings_, 2U);
}

TEST(ProfileReader, RefusesWhatIsNotAProfilingDatabase) {
  const TempFolder folder;
  EXPECT_NE(refusal(folder / "absent").find("no such file"), std::string::npos);
  EXPECT_NE(refusal(folder / "").find("not a file"), std::string::npos);
  std::ofstream(folder / "empty").close();
  EXPECT_NE(refusal(folder / "empty").find("empty"), std::string::npos);
  std::ofstream(folder / "text") << std::string(5000, 'x');
  EXPECT_NE(refusal(folder / "text").find("is not a profiling database"), std::string::npos);
  std::ofstream(folder / "foreign").close();
  sql(folder / "foreign", "CREATE TABLE mine(x)");
  EXPECT_NE(refusal(folder / "foreign").find("application id"), std::string::npos);
  write_run(folder / "newer", "");
  sql(folder / "newer", "PRAGMA user_version=99");
  EXPECT_NE(refusal(folder / "newer").find("schema version (99)"), std::string::npos);
  write_run(folder / "missing", "");
  sql(folder / "missing",
      "DROP TABLE graphs; CREATE VIEW graphs AS WITH RECURSIVE r(n) AS "
      "(SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT n AS id FROM r");
  EXPECT_NE(refusal(folder / "missing").find("(graphs) is missing"), std::string::npos);
  EXPECT_EQ(folder.files(), 5U);
}

TEST(ProfileReader, RefusesEveryTruncatedFile) {
  const TempFolder folder;
  write_run(folder / "whole", "");
  const std::string whole = test::contents_of(folder / "whole");
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 100; ++i) {
    // The last page too: SQLite itself fills it up.
    const std::size_t size = whole.size() - 1 - random() % (i < 20 ? 8192 : whole.size());
    std::ofstream(folder / "cut", std::ios::binary) << whole.substr(0, size);
    EXPECT_NE(refusal(folder / "cut"), "") << size;
  }
}

TEST(ProfileReader, AnswersOrThrowsOnDamagedFiles) {
  const TempFolder folder;
  write_run(folder / "whole", "");
  const std::string whole = test::contents_of(folder / "whole");
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = whole;
    const std::size_t from = i % 4 == 0 ? 0 : random() % bytes.size();
    for (std::size_t at = from; at < std::min(bytes.size(), from + random() % 9000); ++at) {
      bytes[at] = static_cast<char>(random() & 0xFFU);
    }
    std::ofstream(folder / "damaged", std::ios::binary) << bytes;
    refused += refusal(folder / "damaged").empty() ? 0 : 1;
  }
  EXPECT_GE(refused, 50);  // every damaged header at least
}

}  // namespace
}  // namespace reprise
