#include "debugger/ui/ui.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "debugger/app/headless_host.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

constexpr const char* kLong = "decoder/layer.31/attention/output_projection/matmul_f16_k32";

std::vector<std::string> overflows_of(const DrawUi& draw) {
  HeadlessHost host({.width = 400, .height = 300});
  host.frame(draw);
  std::vector<std::string> paths;
  for (const Overflow& overflow : host.registry().overflows()) {
    paths.push_back(overflow.path);
  }
  return paths;
}

TEST(Overflow, IsATextWiderThanItsBoxThatIsNotElided) {
  EXPECT_THAT(overflows_of([](Ui& ui) {
                ui.text_in("cut", {{0, 0}, {60, 22}}, kLong, {.elide = false});
                ui.text_in("elided", {{0, 30}, {60, 52}}, kLong);
                ui.text_in("short", {{0, 60}, {60, 82}}, "rope", {.elide = false});
              }),
              ElementsAre("cut"));
}

TEST(Overflow, IsATextHigherThanItsBox) {
  EXPECT_THAT(overflows_of([](Ui& ui) {
                ui.text_in("low", {{0, 0}, {60, 9}}, "rope");
              }),
              ElementsAre("low"));
}

TEST(Overflow, IsWhatSticksOutOfItsRegionUnlessTheRegionScrolls) {
  const auto draw = [](bool scrolls) {
    return [scrolls](Ui& ui) {
      const auto region = ui.region("panel", {100, 100}, scrolls);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ui.text_in("wide", {at, {at.x + 120, at.y + 22}}, "rope");
      ui.text_in("below", {{at.x, at.y + 90}, {at.x + 60, at.y + 112}}, "rope");
    };
  };
  EXPECT_THAT(overflows_of(draw(false)), ElementsAre("panel/wide", "panel/below"));
  EXPECT_THAT(overflows_of(draw(true)), ElementsAre("panel/wide"));
}

TEST(Overflow, IsNotWhatIsPannedOutOfACanvas) {
  EXPECT_THAT(overflows_of([](Ui& ui) {
                const auto canvas = ui.canvas({{100, 100}, {200, 200}});
                ui.text_in("node", {{50, 50}, {150, 150}}, "rope");
                ui.hit("edge", {{150, 150}, {500, 500}});
              }),
              IsEmpty());
}

TEST(Registry, KnowsWhatWasDrawnWhereWithItsWholeText) {
  HeadlessHost host({.width = 400, .height = 300});
  host.frame([](Ui& ui) {
    const auto nodes = ui.scope("nodes");
    const auto row = ui.scope(23);
    ui.text_in("scope", {{10, 20}, {60, 42}}, kLong);
    ui.hit("", {{350, 20}, {450, 42}}, "rope", "selected");
    ui.publish("p50", "1.82 ms");
  });
  const Widget* text = host.registry().find("nodes/23/scope");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->text, kLong);
  EXPECT_EQ(text->visible, (Rect{10, 20, 60, 42}));
  const Widget* row = host.registry().find("nodes/23/");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(*row, (Widget{{350, 20, 400, 42}, "rope", "selected", true}));
  EXPECT_EQ(host.registry().value("nodes/23/p50"), "1.82 ms");
  host.frame([](Ui& /*ui*/) {});
  EXPECT_EQ(host.registry().find("nodes/23/scope"), nullptr);
  EXPECT_EQ(host.registry().value("nodes/23/p50"), "");
}

TEST(Registry, HoldsHostileTextAsPrintableLinesOfBoundedLength) {
  HeadlessHost host({.width = 400, .height = 300});
  const std::string huge(1 << 20, 'x');
  host.frame([&](Ui& ui) {
    const auto scope = ui.scope("a##b%s\n");
    ui.text("text", "%s%n ## \x1B[0m\xC3\nnext");
    ui.text("huge", huge);
    ui.button("button", "%d###id");
    ui.paragraph("paragraph", huge);
    ui.tooltip("%s%s");
  });
  const WidgetRegistry& registry = host.registry();
  EXPECT_EQ(registry.find("a##b%s?/text")->text, "%s%n ## ?[0m??next");
  EXPECT_EQ(registry.find("a##b%s?/huge")->text, huge.substr(0, 512));
  EXPECT_EQ(registry.find("a##b%s?/button")->text, "%d###id");
}

TEST(Hit, GoesToWhatWasDrawnLast) {
  HeadlessHost host({.width = 400, .height = 300});
  std::vector<std::string> clicked;
  const auto draw = [&](Ui& ui) {
    if (ui.hit("canvas", {{0, 0}, {200, 200}}).clicked) {
      clicked.emplace_back("canvas");
    }
    if (ui.hit("node", {{50, 50}, {100, 100}}).clicked) {
      clicked.emplace_back("node");
    }
  };
  host.frame(draw);
  for (const ImVec2 at : {ImVec2(75, 75), ImVec2(150, 150)}) {
    host.mouse().move(at);
    host.mouse().press(ImGuiMouseButton_Left, true);
    host.mouse().press(ImGuiMouseButton_Left, false);
  }
  while (host.pending()) {
    host.frame(draw);
  }
  EXPECT_THAT(clicked, ElementsAre("node", "canvas"));
}

TEST(Hit, ADragIsNoClick) {
  HeadlessHost host({.width = 400, .height = 300});
  bool clicked = false;
  float dragged = 0;
  const auto draw = [&](Ui& ui) {
    const Hit hit = ui.hit("canvas", {{0, 0}, {200, 200}});
    clicked = clicked || hit.clicked;
    dragged += hit.dragged.x;
  };
  host.frame(draw);
  host.mouse().move({20, 20});
  host.mouse().press(ImGuiMouseButton_Left, true);
  while (host.pending()) {
    host.frame(draw);
  }
  for (const float x : {60.0F, 300.0F}) {  // out of it too: it stays held
    host.mouse().move({x, 20});
    host.frame(draw);
  }
  host.mouse().press(ImGuiMouseButton_Left, false);
  host.frame(draw);
  EXPECT_FALSE(clicked);
  EXPECT_EQ(dragged, 280);
}

TEST(Hit, ADragBetweenTwoFramesIsOne) {
  HeadlessHost host({.width = 400, .height = 300});
  bool clicked = false;
  float dragged = 0;
  const auto draw = [&](Ui& ui) {
    const Hit hit = ui.hit("canvas", {{0, 0}, {200, 200}});
    clicked = clicked || hit.clicked;
    dragged += hit.dragged.x;
  };
  host.frame(draw);
  host.mouse().move({20, 20});
  host.mouse().press(ImGuiMouseButton_Left, true);
  host.mouse().move({60, 20});
  host.mouse().move({90, 20});
  host.mouse().press(ImGuiMouseButton_Left, false);
  while (host.pending()) {
    host.frame(draw);
  }
  EXPECT_FALSE(clicked);
  EXPECT_EQ(dragged, 70);
}

TEST(Hit, SecondClickOnTheSameItemIsADoubleClick) {
  HeadlessHost host({.width = 400, .height = 300});
  std::vector<bool> doubles;
  const auto draw = [&](Ui& ui) {
    if (const Hit hit = ui.hit("node", {{0, 0}, {20, 20}}); hit.clicked) {
      doubles.push_back(hit.double_clicked);
    }
  };
  host.frame(draw);
  host.mouse().move({10, 10});
  for (int i = 0; i < 2; ++i) {
    host.mouse().press(ImGuiMouseButton_Left, true);
    host.mouse().press(ImGuiMouseButton_Left, false);
  }
  while (host.pending()) {
    host.frame(draw);
  }
  EXPECT_THAT(doubles, ElementsAre(false, true));
}

}  // namespace
}  // namespace reprise::debugger
