#include "tests/debugger/debugger_window.h"

#include <csignal>
#include <fstream>
#include <span>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "debugger/app/window_host.h"
#include "reprise/sql_query.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/read_png.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"

namespace reprise::debugger {
namespace {

constexpr std::string_view kPanels[] = {"replays",   "outline",  "nodes",      "graph",
                                        "inspector", "timeline", "memory",     "barriers",
                                        "passes",    "sql",      "statistics", "kernels"};
/// Of what they show the sample has nothing.
constexpr std::string_view kEmptyPanels[] = {"diff", "tensors", "numerics", "log"};

/// Where a panel is not in sight, its tab brings it there.
std::string shown(std::string_view panel) {
  return panel == "replays" ? "" : "click tab/" + std::string(panel) + "\n";
}

std::string from_menu(std::string_view panel, const std::string& entry) {
  const std::string menu = "menu/" + std::string(panel) + "/open";
  return shown(panel) + "click " + menu + "\nclick " + menu + "/" + entry + "\n";
}

TEST(DebuggerWindow, EachPanelCopiesAQueryThatRuns) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(),
                      "INSERT INTO pass_decisions VALUES(2,'in_place',0,'shared',6,1,'',NULL)"),
            "");
  DebuggerWindow window(database.path());
  for (const std::string_view panel : kPanels) {
    SCOPED_TRACE(panel);
    ImGui::SetClipboardText("nothing");
    window.run(from_menu(panel, "copy_sql") + "expect status/notice Copied");
    EXPECT_FALSE(run_sql(database.path(), ImGui::GetClipboardText()).rows.empty());
  }
}

TEST(DebuggerWindow, EachPanelWritesItsPictureWithoutTheMenu) {
  const SampleDatabase database;
  const test::TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  DebuggerWindow window(database.path(), {.width = 1200, .height = 700});
  for (const std::string_view panel : kPanels) {
    SCOPED_TRACE(panel);
    for (const std::string kind : {"png", "svg"}) {
      const std::string file = std::string(panel) + "." + kind;
      window.run(from_menu(panel, kind) + "expect status/notice " + file);
      EXPECT_GT(std::filesystem::file_size(file), 500U);
    }
  }
  for (const std::string_view panel : kEmptyPanels) {
    SCOPED_TRACE(panel);
    window.run(from_menu(panel, "png") + "expect status/notice " + std::string(panel) + ".png");
  }
  window.run(shown("graph"));
  const Rect canvas = window.host().registry().find("graph/canvas")->visible;
  // Bars of one height lie above and below it.
  const float top = window.host().registry().find("tab/graph")->visible.max_y;
  const float bottom = canvas.max_y + (canvas.min_y - top);
  EXPECT_EQ(read_png("graph.png"),
            crop(window.host().picture(), {{canvas.min_x, top}, {canvas.max_x, bottom}}));
  window.run(from_menu("graph", "png") + "expect status/notice graph-2.png");
  std::filesystem::current_path(before);
}

TEST(DebuggerWindow, OfAFolderSaysThatItIsOne) {
  const test::TempFolder folder;
  try {
    const DebuggerView view(folder / "", {});
    FAIL() << "a folder was opened";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("is a folder; a database is a file"));
  }
}

TEST(DebuggerWindow, MadeSmallAndLargeAgainHasItsLayoutAgain) {
  const SampleDatabase database;
  DebuggerWindow window(database.path());
  window.run("drag splitter/1 0.5 0.5 20.5 0.5\nwait");
  const auto splitters = [&] {
    std::vector<Rect> places;
    for (const char* const id : {"splitter/0", "splitter/1", "splitter/2"}) {
      places.push_back(window.host().registry().find(id)->visible);
    }
    return places;
  };
  const std::vector<Rect> before = splitters();
  window.host().resize(kMinWidth, kMinHeight);
  window.run("wait");
  EXPECT_NE(splitters(), before);
  window.host().resize(1600, 900);
  window.run("wait");
  EXPECT_EQ(splitters(), before);
}

TEST(DebuggerWindow, AsSmallAsItGetsHasEveryTabInItsPlace) {
  const SampleDatabase database;
  DebuggerWindow window(database.path(), {.width = kMinWidth, .height = kMinHeight});
  float end = 0;
  for (const char* const id : {"tab/outline", "tab/nodes", "splitter/1", "tab/graph", "tab/kernels",
                               "tab/diff", "splitter/2", "tab/inspector", "tab/tensors"}) {
    const Rect place = window.host().registry().find(id)->visible;
    EXPECT_GE(place.min_x, end - 1) << id;
    EXPECT_GT(place.max_x, place.min_x) << id;
    end = place.max_x;
  }
}

TEST(DebuggerWindow, OfAFileWithALongPathStillNamesTheKeysToBeginWith) {
  const SampleDatabase database;
  const test::TempFolder folder;
  const std::filesystem::path deep = folder / std::string(100, 'd');
  std::filesystem::create_directories(deep);
  std::filesystem::copy_file(database.path(), deep / "capture.db");
  DebuggerWindow window(deep / "capture.db", {.width = 1280, .height = 720});
  window.run("expect status/hint F1: keys and mouse\nexpect status/file capture.db");
}

TEST(DebuggerWindow, WithoutRoomForTwoRowsHasAllPanelsBehindOneBarOfTabs) {
  const SampleDatabase database;
  DebuggerWindow window(database.path(), {.width = 1280, .height = 720, .scale = 4});
  window.run("expect_state tab/graph selected");
  const auto box = [&](const char* id) { return window.host().registry().find(id)->visible; };
  EXPECT_EQ(box("tab/graph").min_y, box("tab/log").min_y);
  EXPECT_GE(box("graph/canvas").max_y - box("graph/canvas").min_y, 200);
  window.run("click tab/inspector\nexpect_state tab/inspector selected");
  EXPECT_EQ(window.host().registry().find("graph/canvas"), nullptr);
}

class WholeWindow : public ::testing::TestWithParam<std::tuple<int, bool>> {};
INSTANTIATE_TEST_SUITE_P(At, WholeWindow,
                         ::testing::Combine(::testing::Values(1, 2), ::testing::Bool()),
                         [](const auto& of) {
                           return std::to_string(std::get<0>(of.param)) + "x_" +
                                  (std::get<1>(of.param) ? "light" : "dark");
                         });

TEST_P(WholeWindow, CutsNoTextOff) {
  const auto [scale, light] = GetParam();
  const SampleDatabase database;
  DebuggerWindow window(database.path(), {.width = 1600U * static_cast<unsigned int>(scale),
                                          .height = 900U * static_cast<unsigned int>(scale),
                                          .scale = static_cast<float>(scale)});
  window.run(light ? "key Ctrl+Shift+L" : "wait");
  for (const std::string selected : {"outline/row/1", "tab/nodes", "nodes/table/row/15"}) {
    window.run("click " + selected);
    for (const auto& panels :
         std::initializer_list<std::span<const std::string_view>>{kPanels, kEmptyPanels}) {
      for (const std::string_view panel : panels) {
        SCOPED_TRACE(panel);
        window.run(shown(panel) + "fits");
      }
    }
    window.run("click tab/nodes");
  }
}

TEST(DebuggerWindow, EveryTourTakesLessThanTenActions) {
  std::size_t tours = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(REPRISE_SOURCE_ROOT "/docs/tours")) {
    if (file.path().extension() != ".ui") {
      continue;
    }
    ++tours;
    std::ifstream tour(file.path());
    const std::string script{std::istreambuf_iterator<char>(tour), {}};
    EXPECT_LT(count_actions(parse_script(script)), 10U) << file.path();
  }
  EXPECT_EQ(tours, 7U);
}

TEST(DebuggerWindow, AClickThatSlipsALittleIsNoBrush) {
  const SampleDatabase database;
  DebuggerWindow window(database.path());
  window.run("drag replays/cells 0.5 0.5 0.502 0.5");
  EXPECT_FALSE(window.workspace().document.range());
  EXPECT_EQ(window.workspace().document.shown_replay(), 29U);
}

/// Writes a run to `path` as fast as it likes; a byte in `ready` when 20 replays are committed.
[[noreturn]] void write_until_killed(const std::filesystem::path& path, int ready) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto graph = test::GraphMaker({}).make();
  const auto sink = open_profile(path, test::run_info("test", "live"), {});
  sink->device(test::nanosecond_device());
  const std::uint64_t recording = test::send_recording(*sink, graph);
  std::mt19937_64 random(1);
  for (std::uint64_t r = 0; r < 20; ++r) {
    test::TimedReplay replay(recording, r, test::random_durations(random, graph->steps.size()));
    sink->replay(replay.record);
  }
  sink->flush();
  [[maybe_unused]] const auto written = ::write(ready, "", 1);
  for (;;) {
    ::pause();
  }
}

TEST(DebuggerWindow, SaysLiveUntilTheWriterDiesAndKeepsWhatWasCommitted) {
  const test::TempFolder folder;
  const std::filesystem::path path = folder / "profile.db";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    write_until_killed(path, ready[1]);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);

  DebuggerWindow window(path);
  window.run("expect header/run_state LIVE\nexpect header/replays 20 replays\nfits");
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  // As much later as a silent writer counts as dead.
  test::sql(path, "UPDATE runs SET heartbeat_ns = heartbeat_ns - 11000000000");
  window.run("wait\nexpect header/run_state crashed\nexpect header/replays 20 replays\nfits");
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(DebuggerWindow, WholeRunKeepsTheRulesOfVulkan) {
  const SampleDatabase database;
  DebuggerWindow window(database.path(), {.validation = true});
  for (const std::string_view panel : kPanels) {
    window.run(shown(panel) + "key Shift+]");
    window.host().picture();
  }
  EXPECT_THAT(window.host().validation_messages(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace reprise::debugger
