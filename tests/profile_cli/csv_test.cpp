// Fields of CSV: what a spreadsheet would run is a text, and a number stays one.
#include "debugger/model/csv.h"

#include "debugger/cli/listing.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using debugger::csv_field;
using debugger::csv_line;
using debugger::quoted_csv_field;

TEST(CsvFields, ThatASpreadsheetWouldRunAreTexts) {
  EXPECT_EQ(csv_field("=1+2"), "'=1+2");
  EXPECT_EQ(csv_field("+1"), "'+1");
  EXPECT_EQ(csv_field("-1"), "'-1");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("\t=1"), "'\t=1");
  EXPECT_EQ(csv_field("\r=1"), "\"'?=1\"");
  EXPECT_EQ(csv_field("=F(\"x\",\"y\")"), "\"'=F(\"\"x\"\",\"\"y\"\")\"");
}

TEST(CsvFields, OfOtherTextsAreAsTheyAre) {
  for (const char* text : {"", "a=b", "layer.0/attn", "'", " =1", "1-2"}) {
    EXPECT_EQ(csv_field(text), text);
  }
}

TEST(CsvFields, AreQuotedWhereAFormatQuotesAll) {
  for (const char* text : {"=1+2", "a,b", "say \"=1\"", "\r=1"}) {
    const std::string field = csv_field(text);
    EXPECT_EQ(quoted_csv_field(text), field.front() == '"' ? field : '"' + field + '"');
  }
  EXPECT_EQ(quoted_csv_field(""), "\"\"");
}

TEST(CsvFields, OfNumbersAreNumbers) {
  EXPECT_EQ(csv_line(std::vector<SqlValue>{std::int64_t{-1}, -0.5, std::string("-1")}),
            "-1,-0.5,'-1\n");
}

TEST(CsvFields, OfCommandsFollowTheSameRule) {
  cli::Report report;
  report.listings.push_back(
      {"rows", {{"name", "name"}, {"ns", "ns"}}, {{"=1", -1}, {"x", cli::Cell::none()}}});
  EXPECT_EQ(test::printed([&] { report.print(cli::Format::csv); }), "name,ns\n'=1,-1\nx,\n");
}

}  // namespace
}  // namespace reprise
