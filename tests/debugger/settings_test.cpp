#include "debugger/model/settings.h"

#include <fstream>
#include <gmock/gmock.h>
#include <random>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/profile/recorded_graphs.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;

class SettingsFile : public ::testing::Test {
 protected:
  Settings after_writing(const std::string& text) {
    std::ofstream(path_) << text;
    return read_settings(path_);
  }
  const test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "new/debugger.json";
};

Settings changed() {
  Settings settings;
  settings.light = true;
  settings.layout = 2;
  settings.zoom = -2;
  settings.window = WindowPlace{-10, 20, 1000, 700, true};
  settings.filters["/a.db"] = "op:matmul p50>1us";
  settings.remember("/a.db");
  settings.tables["nodes/table"] = {TableOrder{"p50", false}, {{"op", 150.5F}}};
  settings.sources = {"0123456789abcdef", "ff"};
  settings.layouts[1].all.parts[0].size = 321;
  show(settings.layouts[2].all, "memory");
  close(settings.layouts[2].all, "sql");
  settings.layouts.push_back({"Mine", settings.layouts[1].all});
  settings.bookmarks["/a \"b\".db"] = {{{2, 1}, {.node = 15, .item = {}}},
                                       {{2, 1}, {.node = {}, .item = 3}}};
  return settings;
}

TEST_F(SettingsFile, GivesBackWhatWasWritten) {
  ASSERT_TRUE(write_settings(changed(), path_));
  EXPECT_EQ(read_settings(path_), changed());
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(SettingsFile, IsTheUsualOneWithoutAFile) {
  EXPECT_EQ(read_settings(folder_ / "none.json"), Settings());
}

TEST_F(SettingsFile, ThatIsAPipeIsNotWaitedFor) {
  std::filesystem::create_directories(path_.parent_path());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(read_settings(path_), Settings());
  EXPECT_FALSE(write_settings(changed(), path_));
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(SettingsFile, CannotBeWrittenWhereAFileIsInTheWay) {
  std::ofstream(folder_ / "new") << "x";
  EXPECT_FALSE(write_settings(Settings(), path_));
}

TEST_F(SettingsFile, LosesOnlyWhatCannotBeUsed) {
  std::filesystem::create_directories(path_.parent_path());
  const Settings read = after_writing(R"({"light": "yes", "layout": 99, "zoom": 1000,
      "window": {"x": 5, "y": 5, "width": 0, "height": 9999999}, "filters": {"/a.db": 1}, "sources": [1, "ab"], "recent": [1, null],
      "tables": {"nodes/table": {"sorted_by": 3, "widths": {"op": "wide", "p50": 1e300, "p95": -1}},
      "log/table": 5}, "layouts": [
      {"name": "Inspect", "all": {"size": -1e300, "second_sized": 1, "parts": [
          {"panels": [1, "nodes", "nodes", "unknown", "log"], "front": "graph"},
          {"size": 1e300, "parts": [{"panels": []}, {"panels": ["graph", "nodes"]}]}]}},
      {"name": "None", "all": {"panels": ["unknown"]}}, {"all": {"panels": ["graph"]}},
      {"name": "Memory", "all": 7}, {"name": "More", "all": {"panels": ["graph"]}}, 5],
      "bookmarks": {"/a.db": [{"run": 1, "graph": 2, "node": 3}, {"run": 1, "node": -4},
                              {"node": 5, "item": 6}, "x", {"run": 1, "graph": 2, "node": 9e99}],
                    "/b.db": {"node": 1}}})");
  EXPECT_FALSE(read.light);
  EXPECT_EQ(read.layout, 4U);
  EXPECT_EQ(read.zoom, 50);
  EXPECT_EQ(read.window, std::nullopt);
  EXPECT_TRUE(read.filters.empty());
  EXPECT_TRUE(read.recent.empty());
  EXPECT_THAT(read.sources, ElementsAre("ab"));
  EXPECT_EQ(read.tables.at("nodes/table"),
            (TableArrangement{.order = {}, .widths = {{"p50", 4000}, {"p95", 24}}}));
  EXPECT_EQ(read.tables.at("log/table"), TableArrangement());
  const Layout& inspect = read.layouts[0];
  EXPECT_EQ(inspect.all.size, 60);
  ASSERT_EQ(inspect.all.parts.size(), 2U);
  EXPECT_THAT(inspect.all.parts[0].panels, ElementsAre("nodes", "log"));
  EXPECT_EQ(inspect.all.parts[0].front, "nodes");
  EXPECT_THAT(inspect.all.parts[1].panels, ElementsAre("graph"));
  ASSERT_EQ(read.layouts.size(), 5U);
  EXPECT_EQ(read.layouts[3], usual_layouts()[3]);
  EXPECT_EQ(read.layouts[4].name, "More");
  EXPECT_THAT(read.bookmarks.at("/a.db"), ElementsAre(Bookmark{{1, 2}, {.node = 3, .item = {}}}));
}

TEST_F(SettingsFile, OfAnyBytesIsRead) {
  std::filesystem::create_directories(path_.parent_path());
  ASSERT_TRUE(write_settings(changed(), path_));
  std::ifstream in(path_);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 500; ++i) {
    std::string bytes = whole;
    for (int changes = 0; changes < 3; ++changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const Settings read = after_writing(bytes.substr(0, random() % (bytes.size() + 1)));
    EXPECT_LT(read.layout, read.layouts.size());
  }
}

}  // namespace
}  // namespace reprise::debugger
