// The debugger as a program: what it shows without a database, and how another one is opened.
#include <fstream>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "debugger/app/debugger.h"
#include "debugger/app/script_runner.h"
#include "tests/debugger/panel_window.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;

class StartScreenTest : public ::testing::Test {
 protected:
  void run(const std::string& script) {
    view_ = debugger_.view();
    ScriptRunner(host_, view_).run(parse_script(script));
  }
  std::string text(std::string_view path) const {
    const Widget* const widget = host_.registry().find(path);
    return widget == nullptr ? "(absent)" : widget->text;
  }
  /// The file name of the database on the screen.
  std::string opened() const {
    return debugger_.opened() == nullptr
               ? "(none)"
               : debugger_.opened()->workspace().document.path().filename().string();
  }
  std::string copy(const char* name) const {
    const std::filesystem::path to = folder_ / name;
    std::filesystem::copy_file(database_.path(), to);
    return to.string();
  }

  const SampleDatabase database_;
  const test::TempFolder folder_;
  Debugger debugger_{{}, {}, [this] { return DemoFiles{copy("before.db"), copy("after.db"), {}}; }};
  HeadlessHost host_{{}};
  View view_;
};

TEST_F(StartScreenTest, OpensThePathThatIsTyped) {
  run("expect start/hint Ctrl+P\nfits\ntype start/path " + copy("a.db") +
      "\nkey Enter\nwait\nabsent start/path\nexpect header/nodes 91 nodes");
  EXPECT_EQ(opened(), "a.db");
}

TEST_F(StartScreenTest, SaysWhatIsWrongWithAFileAndWhatToDo) {
  const std::filesystem::path text = folder_ / "text.db";
  std::ofstream(text) << "This is no database, but a text that is long enough to be one.";
  run("type start/path " + text.string() + "\nclick start/open\nwait\n" +
      "expect start/problem not a profiling database\n" + "expect start/problem reprise db check " +
      text.string());
  run("type start/path " + (folder_ / "none.db").string() +
      "\nclick start/open\nexpect start/problem There is no file");
  EXPECT_EQ(opened(), "(none)");
}

TEST_F(StartScreenTest, KeepsTheDatabaseOnTheScreenWhenAnotherCannotBeOpened) {
  debugger_.show(database_.path());
  run("key Ctrl+O\ntype start/path /nonexistent.db\nkey Enter\n"
      "expect start/problem There is no file\nclick start/back\nexpect header/nodes 91 nodes");
  EXPECT_EQ(opened(), "profile.db");
}

TEST_F(StartScreenTest, IsWhatABrokenFileOfTheCommandLineLeadsTo) {
  const std::filesystem::path text = folder_ / "text.db";
  std::ofstream(text) << "This is no database, but a text that is long enough to be one.";
  debugger_.show(text);
  run("wait\nexpect start/problem reprise db check");
}

TEST_F(StartScreenTest, ListsWhatWasOpenedTheLatestFirst) {
  debugger_.show(copy("a.db"));
  debugger_.open(copy("b.db"));
  run("wait");
  const Settings settings = debugger_.settings();
  EXPECT_THAT(settings.recent,
              ElementsAre((folder_ / "b.db").string(), (folder_ / "a.db").string()));
  run("key Ctrl+O\nexpect start/recent/0 b.db\nclick start/recent/1\nwait");
  EXPECT_EQ(opened(), "a.db");
}

TEST_F(StartScreenTest, IsNotNeededForARecentFile) {
  debugger_.show(copy("a.db"));
  debugger_.open(copy("b.db"));
  run("wait\nkey Ctrl+P\ntype palette/text open a.db\nkey Enter\nwait");
  EXPECT_EQ(opened(), "a.db");
}

TEST_F(StartScreenTest, OpensTheDemo) {
  run("click start/demo\nwait\nclick tab/diff\nwait\nexpect diff/other before.db");
  EXPECT_EQ(opened(), "after.db");
}

TEST_F(StartScreenTest, OpensAFileThatIsDroppedOnTheWindow) {
  run("wait");
  view_.open_file(copy("a.db"));
  run("wait");
  EXPECT_EQ(opened(), "a.db");
}

TEST_F(StartScreenTest, ListsTheDatabasesOfAWatchedFolder) {
  copy("a.db");
  copy("notes.txt");
  run("type start/folder " + (folder_ / "").string() +
      "\nkey Enter\nexpect start/watched/0 a.db\nabsent start/watched/1\nfits\n"
      "click start/watched/0\nwait");
  EXPECT_EQ(opened(), "a.db");
}

TEST_F(StartScreenTest, SaysThatAFolderCannotBeWatched) {
  run("type start/folder /nonexistent\nclick start/watch\n"
      "expect start/problem The path (/nonexistent) is not a folder");
}

TEST_F(StartScreenTest, HasTheCommandsOfTheWindow) {
  run("click menus/file\nexpect menus/file/open_a_file/key Ctrl+O\n"
      "click menus/file/close_the_window");
  EXPECT_TRUE(view_.take_requests().close);
  run("key Ctrl+=");
  EXPECT_EQ(view_.take_requests().zoom, 1);
  run("key F1\nexpect keys/left/File/0/how Ctrl+O\nexpect keys/left/File/3/how Ctrl+Q");
}

TEST_F(StartScreenTest, KeepsTheBookmarksOfTheDatabaseThatWasOpenBefore) {
  debugger_.show(copy("a.db"));
  run("click outline/row/3\nkey Ctrl+B");
  debugger_.open(copy("b.db"));
  run("wait");
  const Settings settings = debugger_.settings();
  EXPECT_EQ(settings.bookmarks.at((folder_ / "a.db").string()).size(), 1U);
}

/// The binding names every member, so that a new one is a question to this test.
TEST_F(StartScreenTest, GivesBackEverySettingThatItDoesNotChange) {
  Settings given;
  auto& [light, zoom, window, layout, layouts, bookmarks, filters, tables, sources, recent] = given;
  const std::string a = copy("a.db"), b = copy("b.db");
  light = true;
  zoom = 2;
  window = WindowPlace{1, 2, 300, 400, true};
  layout = 1;
  layouts.push_back({"Mine", layouts[2].all});
  bookmarks = {{a, {{{1, 1}, {.node = 2, .item = {}}}}}, {b, {{{1, 1}, {.node = 3, .item = {}}}}}};
  filters = {{a, "op:matmul"}, {b, "idx=7"}};
  tables["nodes/table"] = {TableOrder{"p50", true}, {{"op", 90.0F}}};
  sources = {"ab"};
  recent = {a, b};
  Debugger other(given, {});
  other.show(a);
  EXPECT_EQ(other.settings(), given);
}

TEST(WatchedFolder, NamesTheFilesThatAppear) {
  const test::TempFolder folder;
  std::ofstream(folder / "old.db") << "x";
  WatchedFolder watched(folder / "");
  EXPECT_EQ(watched.take_new(), std::nullopt);
  std::ofstream(folder / "new.db") << "x";
  const WatchedFolder::Clock::time_point now = WatchedFolder::Clock::now();
  EXPECT_TRUE(watched.poll(now));
  EXPECT_EQ(watched.take_new(), folder / "new.db");
  EXPECT_EQ(watched.files().size(), 2U);
  EXPECT_EQ(watched.take_new(), std::nullopt);
}

TEST(WatchedFolder, IsLookedAtOnceASecond) {
  const test::TempFolder folder;
  WatchedFolder watched(folder / "");
  const WatchedFolder::Clock::time_point now = WatchedFolder::Clock::now();
  watched.poll(now);
  std::ofstream(folder / "new.db") << "x";
  EXPECT_FALSE(watched.poll(now + std::chrono::milliseconds(999)));
  EXPECT_TRUE(watched.poll(now + std::chrono::milliseconds(1000)));
}

}  // namespace
}  // namespace reprise::debugger
