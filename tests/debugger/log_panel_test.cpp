// Paths: log/level/<debug, info, warning, error>, log/words, log/count, log/table with the columns
// time, severity, source, code, node, message and entries as row ids, log/open/title and message.
#include "debugger/views/log_panel.h"

#include "debugger/model/event_log.h"
#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr HeadlessOptions kLogSize{.width = 1500, .height = 230};
constexpr const char* kEvents =
    "INSERT INTO events(run_id,t_ns,severity,source,code,message,graph_id,node_idx,replay_id) "
    "SELECT id, t_start_ns + 2000000, 1, 'profile', 'timings_thinned', 'Fewer times.', NULL, NULL, "
    "NULL FROM runs WHERE id = 2 UNION ALL "
    "SELECT id, t_start_ns + 5000000, 2, 'watch', 'not_finite', 'NaNs in attn.', 2, 10, 40 FROM "
    "runs WHERE id = 2 UNION ALL "
    "SELECT id, t_start_ns + 4000000, 3, 'launch', 'timeout', 'It took too long.', 1, 3, 900 FROM "
    "runs WHERE id = 2 UNION ALL "
    "SELECT 1, 0, 3, 'launch', 'other', 'Of another run.', NULL, NULL, NULL; "
    "INSERT INTO drops(run_id,t_ns,what,reason,count) VALUES (2, 1, 'replays', 'queue full', 3), "
    "(2, 2, 'replays', 'queue full', 4)";

class LogPanelTest : public ::testing::Test {
 protected:
  LogPanelTest() {
    EXPECT_EQ(test::sql(database_.path(), kEvents), "");
    window_.emplace(database_.path(), std::make_unique<LogPanel>(), kLogSize);
  }
  std::string row(int entry) { return window_->text("log/table/row/" + std::to_string(entry)); }
  std::size_t rows() { return window_->count("log/table/row/"); }
  void run(const std::string& script) { window_->run(script); }

  SampleDatabase database_;
  std::optional<PanelWindow> window_;
};

TEST_F(LogPanelTest, ShowsEventsInTheirOrderThenWhatIsMissing) {
  ASSERT_EQ(rows(), 4U);
  EXPECT_EQ(row(0), "2.00 ms  info  profile  timings_thinned    Fewer times.");
  EXPECT_EQ(row(1), "4.00 ms  error  launch  timeout    It took too long.");
  EXPECT_EQ(row(2), "5.00 ms  warning  watch  not_finite  #10 attention  NaNs in attn.");
  EXPECT_THAT(row(3), HasSubstr("7 of (replays) were not recorded: queue full."));
  run("fits");
}

TEST_F(LogPanelTest, FiltersByLevelAndWords) {
  EXPECT_EQ(window_->text("log/level/warning"), "Warnings and errors 3");
  run("click log/level/warning");
  EXPECT_EQ(rows(), 3U);
  run("click log/level/error");
  EXPECT_EQ(rows(), 1U);
  EXPECT_EQ(window_->text("log/count"), "1 of 4");
  run("click log/level/debug\ntype log/words NANS");
  EXPECT_EQ(rows(), 1U);
  EXPECT_EQ(row(2), "5.00 ms  warning  watch  not_finite  #10 attention  NaNs in attn.");
}

TEST_F(LogPanelTest, ARowHasAMenuAboutItsNode) {
  run("right log/table/row/2\nclick log/context/show_in_graph");
  EXPECT_EQ(window_->workspace().wanted_panel, "graph");
  EXPECT_EQ(window_->workspace().selection.current().node, 10U);
}

TEST_F(LogPanelTest, ARowWithoutANodeCanBeCopied) {
  run("right log/table/row/0\nabsent log/context/show_in_graph\nclick log/context/copy_the_row");
  EXPECT_STREQ(ImGui::GetClipboardText(),
               "2.00 ms  info  profile  timings_thinned    Fewer times.");
}

TEST_F(LogPanelTest, UpAndDownWalkTheMessages) {
  run("click log/table/row/0\nkey Down\nkey Down\nexpect log/open/message NaNs in attn.\n"
      "key Up\nexpect log/open/message It took too long.");
}

TEST_F(LogPanelTest, ARowShowsItsMessageNodeAndReplay) {
  run("click log/table/row/2\nexpect_state log/table/row/2 selected\n"
      "expect log/open/message NaNs in attn.\nfits");
  EXPECT_EQ(window_->workspace().selection.current().node, 10U);
  const auto& replays = window_->document().replays().rows;
  EXPECT_EQ(replays[window_->document().shown_replay().value()].id, 40);
  run("click log/table/row/2\nabsent log/open/message");
}

TEST_F(LogPanelTest, WhatIsOfAnotherGraphHasNoNode) {
  run("click log/table/row/1");
  EXPECT_EQ(window_->workspace().selection.current(), Selection{});
}

TEST_F(LogPanelTest, CopiesAQueryOfTheLevel) {
  run("click log/level/warning");
  EXPECT_EQ(test::sql(database_.path(),
                      "SELECT code FROM (" + window_->panel().sql(window_->workspace()) + ")"),
            "timeout\nnot_finite");
}

TEST(LogPanel, AMessageOfTheDriverLeadsToItsNodeAndIsShownWhole) {
  const SampleDatabase database;
  std::string message = "In op 10 attention of the graph: Validation Error: ";
  for (int i = 0; i < 60; ++i) {
    message += "| hazard_" + std::to_string(i) + " READ_AFTER_WRITE ";
  }
  ASSERT_EQ(test::sql(database.path(),
                      "INSERT INTO events(run_id,t_ns,severity,source,code,message,graph_id,"
                      "node_idx) SELECT id, t_start_ns + 3000000, 3, 'driver', "
                      "'SYNC-HAZARD-READ_AFTER_WRITE', '" +
                          message + "', 2, 10 FROM runs WHERE id = 2"),
            "");
  PanelWindow window(database.path(), std::make_unique<LogPanel>(), kLogSize);
  window.run("click log/table/row/0\nexpect_state log/table/row/0 selected\nfits");
  EXPECT_EQ(window.workspace().selection.current().node, 10U);
  EXPECT_THAT(window.text("log/open/title"), HasSubstr("driver  SYNC-HAZARD-READ_AFTER_WRITE"));
  EXPECT_THAT(window.text("log/open/message"), HasSubstr("hazard_59"));
}

TEST(LogPanel, ItsTabCountsWarningsAndErrors) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(),
                      "INSERT INTO events(run_id, t_ns, severity, source, message) VALUES "
                      "(2, 1, 2, 'driver', 'lost'), (2, 2, 0, 'driver', 'note')"),
            "");
  DebuggerWindow window(database.path());
  window.run("wait\nexpect tab/log/badge 1");
}

TEST(LogPanel, WithoutEventsItNamesTheCallThatWatches) {
  const SampleDatabase database;
  PanelWindow window(database.path(), std::make_unique<LogPanel>(), kLogSize);
  window.run("fits");
  EXPECT_THAT(window.text("log/empty/call"), HasSubstr("set_watches"));
}

TEST(EventLog, HoldsTheLastEventsOfAFileWithTooMany) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(),
                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10050)"
                      " INSERT INTO events(run_id,t_ns,severity,source,code,message,node_idx) "
                      "SELECT 2, i, i * 7 - 20000, '', '', i, -i FROM n"),
            "");
  const Capture capture = read_capture(database.path(), {.run = 2, .graph = 2});
  const EventLog log = read_event_log(database.path(), capture);
  EXPECT_TRUE(log.truncated);
  ASSERT_EQ(log.entries.size(), 10'001U);
  EXPECT_EQ(log.entries[9999].message, "10050");
  EXPECT_THAT(log.entries.back().message, StartsWith("10000 events name a node or a severity"));
  EXPECT_EQ(log.counts[0], 10'001U);
  EXPECT_THAT(log_rows(log, LogSeverity::debug, "10050"), ElementsAre(9999));
}

TEST(EventLog, HasWhatOfTheFileMakesNoSense) {
  const SampleDatabase database;
  Capture capture = read_capture(database.path(), {.run = 2, .graph = 2});
  capture.problems = {{"steps", "3 rows of steps were left out."}};
  const EventLog log = read_event_log(database.path(), capture);
  ASSERT_EQ(log.entries.size(), 1U);
  EXPECT_EQ(
      log.entries[0],
      (LogEntry{
          {}, LogSeverity::warning, "file", "left_out", "3 rows of steps were left out.", {}, {}}));
}

}  // namespace
}  // namespace reprise::debugger
