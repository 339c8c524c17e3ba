#include "debugger/app/ui_script.h"

#include <fstream>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "debugger/app/script_runner.h"
#include "tests/expect_error.h"
#include "tests/profile/recorded_graphs.h"

namespace reprise::debugger {
namespace {

using ::reprise::testing::expect_error;

void expect_refused(const std::string& script, const std::vector<std::string>& parts) {
  expect_error(ErrorCode::invalid_argument, parts, [&] { parse_script(script); });
}

TEST(UiScript, ReadsStepsPathsAndNumbers) {
  const UiScript script = parse_script(
      "# opens\n"
      "\n"
      "click nodes/row/3\n"
      "  expect \"graph/node/a b\" two words  \n"
      "drag strip/brush 0.25 0 0.5 1\n"
      "key Ctrl+Shift+P\n");
  ASSERT_EQ(script.size(), 4U);
  EXPECT_EQ(script[0].verb, ScriptVerb::click);
  EXPECT_EQ(script[0].line, 3U);
  EXPECT_EQ(script[0].path, "nodes/row/3");
  EXPECT_EQ(script[1].path, "graph/node/a b");
  EXPECT_EQ(script[1].text, "two words");
  EXPECT_EQ(script[2].numbers, (std::array<float, 4>{0.25F, 0, 0.5F, 1}));
  EXPECT_EQ(script[3].key, key_press_of("Ctrl+Shift+P"));
  EXPECT_EQ(count_actions(script), 3U);
}

TEST(UiScript, NamesTheLineOfAMistake) {
  expect_refused("wait\ntap nodes", {"Line 2", "(tap nodes)", "click, double, right"});
  expect_refused("click", {"Line 1", "lacks a path"});
  expect_refused("drag strip 0 0 1", {"has 3 numbers", "not 4"});
  expect_refused("wheel graph up", {"has 0 numbers", "not 1"});
  expect_refused("key Ctrl+Hyper", {"names no key", "(Ctrl+Hyper)"});
  expect_refused("expect nodes/count", {"says nothing to expect"});
  expect_refused("click nodes/row/1 twice", {"more than its step takes", "(twice)"});
}

TEST(UiScript, RefusesALineLongerThanAnyPath) {
  expect_refused("wait\nclick " + std::string(3'000'000, 'x'),
                 {"Line 2", "(click xxxx", "(3000006) bytes", "at most 4096"});
  EXPECT_EQ(parse_script("click " + std::string(kMaxScriptLine - 6, 'x')).size(), 1U);
}

/// A window with one of each that a script acts upon.
class ScriptedWindow : public ::testing::Test {
 protected:
  void run(const std::string& script) { ScriptRunner(host_, view_).run(parse_script(script)); }
  void expect_failure(const std::string& script, const std::vector<std::string>& parts) {
    expect_error(ErrorCode::invalid_argument, parts, [&] { run(script); });
  }

  void draw(Ui& ui) {
    const auto panel = ui.scope("panel");
    clicks_ += ui.button("run", "Run") ? 1 : 0;
    ui.button("stop", "Stop", false);
    ui.toggle("barriers", "Barriers", barriers_);
    ui.input("filter", "op:matmul", filter_, 200);
    const std::vector<std::string> modes = {"node", "graph", "off"};
    ui.combo("mode", modes, mode_, 120);
    if (ui.begin_menu("menu", "More", "")) {
      copied_ = ui.menu_entry("copy", "Copy SQL", "Ctrl+C") || copied_;
      ui.end_menu();
    }
    if (ui.keys().take("F9")) {
      ++presses_;
    }
    ui.publish("keys", std::to_string(presses_));
    const Box canvas{{0, 150}, {400, 250}};
    const Hit hit = ui.hit("canvas", canvas, "", hit_state_);
    dragged_.x += hit.dragged.x;
    dragged_.y += hit.dragged.y;
    wheel_ += hit.wheel;
    hit_state_ = hit.hovered ? "hovered" : "";
    doubles_ += hit.double_clicked ? 1 : 0;
    rights_ += hit.right_clicked ? 1 : 0;
    ImGui::SetCursorScreenPos({0, 260});
    const auto region = ui.region("list", {400, 40});
    for (std::uint64_t i = 0; i < 20; ++i) {
      ui.text(std::to_string(i), "row");
    }
  }

  HeadlessHost host_{{.width = 400, .height = 300}};
  View view_{.draw = [this](Ui& ui) { draw(ui); }};
  int clicks_ = 0, presses_ = 0, doubles_ = 0, rights_ = 0;
  float wheel_ = 0;
  bool barriers_ = false, copied_ = false;
  std::string filter_ = "old", hit_state_;
  std::size_t mode_ = 0;
  ImVec2 dragged_{};
};

TEST_F(ScriptedWindow, ClicksButtons) {
  run("click panel/run\nclick panel/run\nclick panel/barriers\nexpect_state panel/barriers on");
  EXPECT_EQ(clicks_, 2);
}

TEST_F(ScriptedWindow, TypesIntoAnInputInPlaceOfItsText) {
  run("type panel/filter op:rope \xCE\xBC\nexpect panel/filter op:rope");
  EXPECT_EQ(filter_, "op:rope \xCE\xBC");
  run("type panel/filter");
  EXPECT_EQ(filter_, "");
}

TEST_F(ScriptedWindow, PressesKeys) {
  run("key F9\nkey F9\nexpect panel/keys 2");
  EXPECT_EQ(presses_, 2);
}

TEST_F(ScriptedWindow, ChoosesFromCombosAndMenus) {
  run("click panel/mode\nclick panel/mode/2\nexpect panel/mode off\nabsent panel/mode/2\n"
      "click panel/menu\nclick panel/menu/copy\nabsent panel/menu/copy");
  EXPECT_EQ(mode_, 2U);
  EXPECT_TRUE(copied_);
}

TEST_F(ScriptedWindow, ClosesAMenuWithEscape) {
  run("click panel/menu\nkey Escape\nabsent panel/menu/copy");
  EXPECT_FALSE(copied_);
}

TEST_F(ScriptedWindow, DragsHoversTurnsTheWheelAndClicksTwiceAndRight) {
  run("drag panel/canvas 0.25 0.5 0.75 0.5\nwheel panel/canvas -3\nhover panel/canvas\n"
      "expect_state panel/canvas hovered\ndouble panel/canvas\nright panel/canvas");
  EXPECT_EQ(dragged_.x, 200);
  EXPECT_EQ(dragged_.y, 0);
  EXPECT_EQ(wheel_, -3);
  EXPECT_EQ(doubles_, 1);
  EXPECT_EQ(rights_, 1);
}

TEST_F(ScriptedWindow, FailsWithWhatItFound) {
  expect_failure("wait\nclick panel/ran", {"Line 2", "(click panel/ran)", "panel/run"});
  expect_failure("expect panel/run Stop", {"it says (Run)"});
  expect_failure("expect panel/nothing x", {"nothing was drawn as (panel/nothing)"});
  expect_failure("expect_state panel/barriers on", {"its state is (off)"});
  expect_failure("absent panel/run", {"it is there", "(Run)"});
  expect_failure("click panel/list/19", {"out of sight"});
  expect_failure("click panel/stop", {"is disabled"});
}

TEST_F(ScriptedWindow, SaysWhichTextDoesNotFit) {
  view_.draw = [](Ui& ui) { ui.text_in("cut", {{0, 0}, {10, 22}}, "attention", {.elide = false}); };
  expect_failure("fits", {"1 texts or widgets do not: cut (attention): ", " pixels in 10"});
}

TEST_F(ScriptedWindow, WaitsForWhatWasAskedFor) {
  int left = 3;
  view_.settle = [&] { left = 0; };
  view_.draw = [&](Ui& ui) { ui.publish("left", std::to_string(left)); };
  run("expect left 0");
}

TEST_F(ScriptedWindow, TakesPictures) {
  const test::TempFolder folder;
  const std::string file = folder / "scripted_window.png";
  run("shot " + file);
  std::ifstream in(file, std::ios::binary);
  std::string head(24, '\0');
  in.read(head.data(), 24);
  EXPECT_EQ(head.substr(1, 3), "PNG");
  EXPECT_EQ(head.substr(16), std::string("\0\0\x01\x90\0\0\x01\x2C", 8));  // 400 x 300
  expect_error(ErrorCode::io, {"/nowhere/x.png"}, [&] { run("shot /nowhere/x.png"); });
}

}  // namespace
}  // namespace reprise::debugger
