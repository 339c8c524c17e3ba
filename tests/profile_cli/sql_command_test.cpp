// `reprise sql`: what it prints, the functions it adds, and Ctrl-C.
#include <csignal>
#include <fstream>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/table.h"
#include "debugger/cli/terminal.h"
#include "reprise/sql_query.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using cli::Format;
using test::error_of;
using test::printed;

class SqlCommand : public test::TimedDatabase {
 protected:
  SqlCommand() { test::write_run(path_); }
  std::string answer(const std::string& query, Format format = Format::table) {
    return printed([&] { cli::print_sql({path(), query, format}); });
  }
  SqlValue value(const std::string& query) { return run_sql(path_, query).rows.at(0).at(0); }
};

TEST_F(SqlCommand, PrintsNumbersToTheRightAndTextMadeHarmless) {
  EXPECT_EQ(answer("SELECT 'a' AS name, 5 AS n, 2.5 AS x, NULL AS none, x'0102' AS blob UNION ALL "
                   "SELECT char(27) || '[31m', 12345, 10.25, NULL, x'' ORDER BY n"),
            "name       n      x  none  blob\n"
            "a          5    2.5        (2 bytes)\n"
            "?[31m  12345  10.25        (0 bytes)\n");
}

TEST_F(SqlCommand, PrintsCsvAndJson) {
  const std::string query =
      "SELECT 'a,\"b\"' AS \"na,me\", 5 AS n, NULL AS none, 'x' || char(10, 27) AS lines, x'01' b";
  EXPECT_EQ(answer(query, Format::csv),
            "\"na,me\",n,none,lines,b\n\"a,\"\"b\"\"\",5,,\"x\n?\",(1 bytes)\n");
  EXPECT_EQ(answer("SELECT 1 AS a, 'x' AS a, 0.5, NULL, x'01'", Format::json),
            "{\n  \"columns\": [\n    \"a\",\n    \"a\",\n    \"0.5\",\n    \"NULL\",\n"
            "    \"x'01'\"\n  ],\n  \"rows\": [\n    [\n      1,\n      \"x\",\n      0.5,\n"
            "      null,\n      {\n        \"bytes\": 1\n      }\n    ]\n  ],\n"
            "  \"truncated\": false\n}\n");
}

TEST_F(SqlCommand, StopsAtTheLimitAndSaysSo) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(printed([&] {
              cli::print_sql({path(), "SELECT seq FROM replays", Format::csv, 2});
            }),
            "seq\n0\n1\n");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "There is more than these 2 rows; --limit says how many are printed.\n");
  EXPECT_EQ(error_of([&] {
              cli::print_sql({path(), "SELECT 1", Format::csv, 0});
            }),
            "--limit is (0), but must be above 0.");
  EXPECT_EQ(error_of([&] {
              cli::print_sql({path(), "SELECT 1", Format::csv, 1, -3});
            }),
            "--timeout is (-3), but must be above 0.");
}

TEST_F(SqlCommand, SaysThatAResultIsTooLargeAndNotTheLimit) {
  std::string query =
      "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r LIMIT 5000) SELECT 1";
  for (int column = 0; column < 999; ++column) {
    query += ", 1";  // each counts with the size of a value
  }
  ::testing::internal::CaptureStderr();
  answer(query + " FROM r", Format::csv);
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find(" rows; the values of a result take at most 64 MiB."), std::string::npos)
      << told;
}

TEST_F(SqlCommand, WhatIsWrongIsSaidAndNothingChanges) {
  const std::string before = test::sql(path_, "SELECT * FROM replays");
  EXPECT_EQ(error_of([&] { answer("SELECT nope FROM runs"); }),
            "The query is refused: no such column: nope.");
  EXPECT_NE(error_of([&] { answer("DELETE FROM replays"); }).find("does not only read"),
            std::string::npos);
  EXPECT_EQ(test::sql(path_, "SELECT * FROM replays"), before);
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(SqlCommand, PercentilesLieBetweenTheValuesAroundThem) {
  const std::string four = " FROM (SELECT 40 AS x UNION SELECT 10 UNION SELECT 20 UNION SELECT 30)";
  EXPECT_EQ(value("SELECT median(x)" + four), SqlValue(25.0));
  EXPECT_EQ(value("SELECT percentile(x, 0)" + four), SqlValue(10.0));
  EXPECT_EQ(value("SELECT percentile(x, 100)" + four), SqlValue(40.0));
  EXPECT_EQ(value("SELECT percentile(x, 50.0)" + four), SqlValue(25.0));
  EXPECT_EQ(value("SELECT percentile(x, 90)" + four), SqlValue(37.0));
  EXPECT_EQ(value("SELECT median(device_ns) FROM replays WHERE warm_up=0"), SqlValue(15'000.0));
  EXPECT_EQ(value("SELECT median(7)"), SqlValue(7.0));
  EXPECT_EQ(value("SELECT median(NULL)"), SqlValue(std::monostate()));
  EXPECT_EQ(value("SELECT median(1) FROM runs WHERE 0"), SqlValue(std::monostate()));
  EXPECT_EQ(value("SELECT median(x) FROM (SELECT 3 AS x UNION ALL SELECT NULL)"), SqlValue(3.0));
}

TEST_F(SqlCommand, DeviationsAreOfASample) {
  EXPECT_EQ(value("SELECT stddev(x) FROM (SELECT 2 AS x UNION SELECT 4 UNION SELECT 6)"),
            SqlValue(2.0));
  EXPECT_EQ(value("SELECT stddev(1)"), SqlValue(std::monostate()));
}

TEST_F(SqlCommand, StatisticsRefuseWhatTheyCannotMean) {
  EXPECT_EQ(error_of([&] { answer("SELECT median('x')"); }),
            "The query is refused: percentile(), median() and stddev() take "
            "numbers.");
  for (const char* percent : {"101", "-1", "'50'", "NULL"}) {
    EXPECT_EQ(error_of([&] { answer(std::string("SELECT percentile(1, ") + percent + ")"); }),
              "The query is refused: the second argument of percentile() is a "
              "number from 0 to 100.");
  }
  EXPECT_EQ(
      error_of([&] { answer("SELECT percentile(x, x) FROM (SELECT 10 AS x UNION SELECT 20)"); }),
      "The query is refused: the second argument of percentile() is the "
      "same for all rows.");
}

TEST_F(SqlCommand, CtrlCEndsAQueryThatWouldNot) {
  const cli::Interrupt interrupt;
  std::raise(SIGINT);
  SqlLimits limits;
  limits.time = std::chrono::milliseconds::max();
  EXPECT_THROW(run_sql(path_,
                       "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT "
                       "max(n) FROM r",
                       limits, interrupt.token()),
               Cancelled);
}

TEST(Table, GetsNarrowerByTheTextsThatAreWidest) {
  cli::Table table({{"id", cli::Holds::numbers}, {"name"}, {"what"}});
  table.add({"123456", "a name of some length", "short"});
  table.add({"7", "b", "something longer"});
  EXPECT_EQ(printed([&] { table.print(34); }),
            "    id  name          what\n"
            "123456  a name of...  short\n"
            "     7  b             something...\n");
  EXPECT_EQ(printed([&] { table.print(1); }),
            "    id  name      what\n"
            "123456  a nam...  short\n"
            "     7  b         somet...\n");
  EXPECT_EQ(printed([&] { table.print(100); }),
            "    id  name                   what\n"
            "123456  a name of some length  short\n"
            "     7  b                      something longer\n");
}

TEST(Table, KeepsTheEndsOfPaths) {
  cli::Table table({{"source", cli::Holds::paths}, {"name"}});
  table.add({"/a/checkout/in/a/folder/far/below/the/root/samples/l\u00f6op.cpp:31", "l\u00f6op"});
  table.add({"short.cpp:7", "b"});
  EXPECT_EQ(printed([&] { table.print(100); }),
            "source                                               name\n"
            ".../a/folder/far/below/the/root/samples/l\u00f6op.cpp:31  l\u00f6op\n"
            "short.cpp:7                                          b\n");
  EXPECT_EQ(printed([&] { table.print(19); }),
            "source         name\n"
            "...\u00f6op.cpp:31  l\u00f6op\n"
            "short.cpp:7    b\n");
}

}  // namespace
}  // namespace reprise
