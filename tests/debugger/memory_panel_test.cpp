// Paths: memory/summary, memory/by_size, memory/scale, memory/map, memory/live, memory/peak and
// memory/storage/<first tensor>, with the name of the tensor and state "selected" if the selected
// node uses it; published: memory/view.
#include "debugger/views/memory_panel.h"

#include "reprise/sql_query.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/recorded_database.h"
#include "tests/profile/sql.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr HeadlessOptions kMemorySize{.width = 1600, .height = 200};

class MemoryPanelTest : public PanelTest<MemoryPanel> {
 protected:
  MemoryPanelTest() : PanelTest(kMemorySize) {}
  std::string view() { return window_.host().registry().value("memory/view"); }
  std::size_t boxes() { return window_.count("memory/storage/"); }
  std::optional<std::uint32_t> selected() { return window_.workspace().selection.current().node; }
};

TEST_F(MemoryPanelTest, ShowsEveryPlaceOfTheArenaWithItsFirstTensor) {
  EXPECT_EQ(boxes(), 78U);  // and one of 4 bytes, which is too low to be pointed at
  EXPECT_EQ(window_.text("memory/storage/20"), "layer.0/attn/attention");
  EXPECT_EQ(window_.text("memory/storage/21"), "(absent)");  // a view of 20
  EXPECT_EQ(window_.text("memory/summary"),
            "Arena 2.50 KiB, live peak 2.50 KiB, without reuse 29.0 KiB (11.6 times as much); 100 "
            "tensors in 79 places");
  EXPECT_EQ(view(), "steps 0.00 to 91.00, bytes 0 to 2560");
  run("fits");
}

TEST_F(MemoryPanelTest, AClickSelectsTheNodeThatIsFirstToUseThePlace) {
  run("click memory/storage/20");
  EXPECT_EQ(selected(), 10U);
  run("click memory/storage/16");
  EXPECT_EQ(selected(), 6U);
}

TEST_F(MemoryPanelTest, TheTensorsOfTheSelectedNodeStandOut) {
  window_.workspace().select_node(10);
  run("wait");
  std::vector<std::string> marked;
  for (const auto& [path, widget] : window_.host().registry().widgets()) {
    if (path.starts_with("memory/storage/") && widget.state == "selected") {
      marked.push_back(widget.text);
    }
  }
  EXPECT_THAT(marked, ElementsAre("layer.0/attn/rope", "layer.0/attn/attention"));
}

TEST_F(MemoryPanelTest, HoveringTellsTensorsBytesAndSteps) {
  run("hover memory/storage/20");
  EXPECT_EQ(window_.text("tooltip"),
            "layer.0/attn/attention  f32 [1,8,8]  activation\n"
            "256 B at 512 of the arena\n"
            "from step 10: #10 attention  layer.0/attn\n"
            "to step 11: #11 matmul  layer.0/attn\n"
            "also layer.0/attn/attention.view");
}

TEST_F(MemoryPanelTest, UpAndDownWalkThePlaces) {
  run("click memory/storage/20");
  const auto before = selected();
  run("key Down");
  EXPECT_NE(selected(), before);
  run("key Up");
  EXPECT_EQ(selected(), before);
}

TEST_F(MemoryPanelTest, ListsWhatLivesAtThePeakWeightsIncluded) {
  const Capture& capture = *window_.document().capture();
  const MemoryMap map = make_memory_map(capture);
  const auto live = live_tensors(capture, map, map.peak_step);
  EXPECT_THAT(window_.text("memory/peak_title"), HasSubstr("At the peak: 2.50 KiB of the arena"));
  const std::string row = "memory/peak_list/row/" + std::to_string(live.front().tensor);
  EXPECT_FALSE(live.front().storage);  // a weight or a cache is the greatest
  EXPECT_EQ(window_.text(row + "/role"), live.front().role);
  run("click " + row + "\nexpect_state " + row + " selected\nfits");
}

TEST_F(MemoryPanelTest, AClickOnThePeakSelectsAllThatLivesThen) {
  const Capture& capture = *window_.document().capture();
  const MemoryMap map = make_memory_map(capture);
  EXPECT_EQ(window_.text("memory/peak"), "2.50 KiB at step " + std::to_string(map.peak_step));
  run("click memory/peak");
  EXPECT_EQ(window_.workspace().selection.current().nodes,
            nodes_of(capture, map, live_tensors(capture, map, map.peak_step)));
  std::size_t marked = 0;
  for (const auto& [path, widget] : window_.host().registry().widgets()) {
    marked += path.starts_with("memory/storage/") && widget.state == "selected";
  }
  EXPECT_EQ(marked, static_cast<std::size_t>(
                        std::ranges::count_if(map.storages, [&](const MemoryStorage& storage) {
                          return storage.first_step <= map.peak_step &&
                                 map.peak_step <= storage.last_step;
                        })));
}

TEST_F(MemoryPanelTest, TheBytesInUseLeadToTheNodeOfTheStep) {
  run("click memory/live");  // in its middle, 45.5 steps from the left
  EXPECT_EQ(selected(), 45U);
  EXPECT_THAT(window_.text("tooltip"), HasSubstr("step 45: #45 "));
  EXPECT_THAT(window_.text("tooltip"), HasSubstr(" of 2.50 KiB in use"));
}

TEST_F(MemoryPanelTest, TheWheelZoomsStepsAndWithShiftBytes) {
  const std::string all = view();
  run("wheel memory/map 6");
  EXPECT_LT(boxes(), 40U);
  EXPECT_THAT(view(), HasSubstr("bytes 0 to 2560"));
  run("double memory/map");
  EXPECT_EQ(view(), all);
  window_.host().keys().push({.shift = true}, true);
  run("wheel memory/map 3");
  EXPECT_THAT(view(), HasSubstr("steps 0.00 to 91.00"));
  EXPECT_THAT(view(), ::testing::Not(HasSubstr("bytes 0 to 2560")));
}

TEST_F(MemoryPanelTest, ADragPansBothAxesAndStopsAtTheEnds) {
  const std::string all = view();
  run("drag memory/map 0.5 0.7 0.2 0.9");
  EXPECT_EQ(view(), all);
  run("wheel memory/map 8");
  const std::string zoomed = view();
  run("drag memory/map 0.5 0.9 0.2 0.9");
  EXPECT_NE(view(), zoomed);
  run("drag memory/map 0.2 0.9 0.5 0.9");
  EXPECT_EQ(view(), zoomed);
}

TEST_F(MemoryPanelTest, BoxesAreColouredByRoleOrBySize) {
  const Rect place = window_.host().registry().find("memory/storage/20")->visible;
  const auto box = [&] {
    return crop(window_.host().picture(), {{place.min_x, place.min_y}, {place.max_x, place.max_y}});
  };
  const Picture by_role = box();
  run("click memory/by_size\nexpect_state memory/by_size on");
  EXPECT_EQ(window_.text("memory/scale"), "coloured from 0 B to 2.00 KiB");
  EXPECT_NE(box(), by_role);
  run("fits");
}

TEST_F(MemoryPanelTest, CopiesAQueryWithARowForEveryTensorOfTheArena) {
  const auto rows = run_sql(database_.path(), window_.panel().sql(window_.workspace())).rows;
  EXPECT_EQ(rows.size(), 100U);
}

struct Empty {
  const char* name;
  const char* sql;
  const char* text;
};

class EmptyMemoryPanel : public ::testing::TestWithParam<Empty> {};

TEST_P(EmptyMemoryPanel, SaysWhy) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(), GetParam().sql), "");
  PanelWindow window(database.path(), std::make_unique<MemoryPanel>(), kMemorySize);
  EXPECT_EQ(window.text("memory/empty/what"), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Of, EmptyMemoryPanel,
    ::testing::Values(Empty{"NoPools", "DELETE FROM pools", "The capture has no plan of an arena."},
                      Empty{"NoSteps", "DELETE FROM steps", "The capture has no plan of an arena."},
                      Empty{"NothingInTheArena",
                            "UPDATE tensors SET pool_idx = 1 WHERE pool_idx = 0",
                            "Nothing of this graph lives in the arena."}),
    [](const auto& empty) { return std::string(empty.param.name); });

TEST(MemoryPanel, OfTenThousandNodesNamesOnlyWhatCanBePointedAt) {
  std::mt19937_64 random(test::test_seed());
  const RecordedDatabase database({.scales = 9'997}, random);
  PanelWindow window(database.path(), std::make_unique<MemoryPanel>(), kMemorySize);
  ASSERT_EQ(window.document().capture()->nodes.size(), 10'000U);
  EXPECT_EQ(window.count("memory/storage/"), 1U);  // the input; others live for two steps each
  window.run("fits\nwheel memory/map 30");
  EXPECT_GT(window.count("memory/storage/"), 5U);
  EXPECT_LT(window.count("memory/storage/"), 200U);
}

}  // namespace
}  // namespace reprise::debugger
