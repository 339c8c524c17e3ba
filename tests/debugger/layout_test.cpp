#include "debugger/model/layout.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;

/// Tabs as "[a *b]", the front with a star; divided places as "(left|right)" and "(above/below)".
std::string text(const Place& place) {
  if (!place.parts.empty()) {
    return "(" + text(place.parts[0]) + (place.beside ? "|" : "/") + text(place.parts[1]) + ")";
  }
  std::string tabs;
  for (const std::string& panel : place.panels) {
    tabs += (tabs.empty() ? "" : " ") + std::string(panel == place.front ? "*" : "") + panel;
  }
  return "[" + tabs + "]";
}

/// [*a b]|[*c]
Place two_places() {
  return {.panels = {},
          .front = {},
          .parts = {{.panels = {"a", "b"}, .front = "a", .parts = {}},
                    {.panels = {"c"}, .front = "c", .parts = {}}},
          .size = 300};
}

class ALayout : public ::testing::Test {
 protected:
  std::string after_moving(std::string_view panel, const Drop& to) {
    move(all_, panel, to);
    return text(all_);
  }
  Place all_ = two_places();
};

TEST_F(ALayout, TakesATabBeforeAnotherOne) {
  EXPECT_EQ(after_moving("c", {.onto = "a", .side = {}, .tab = 1}), "[a *c b]");
}

TEST_F(ALayout, TakesATabAfterTheLastOne) {
  EXPECT_EQ(after_moving("b", {.onto = "c", .side = {}, .tab = 99}), "([*a]|[c *b])");
}

TEST_F(ALayout, ChangesTheOrderOfTabs) {
  EXPECT_EQ(after_moving("a", {.onto = "b", .side = {}, .tab = 2}), "([b *a]|[*c])");
}

TEST_F(ALayout, LeavesATabThatGoesToWhereItIs) {
  EXPECT_EQ(after_moving("a", {.onto = "a", .side = {}, .tab = 1}), "([*a b]|[*c])");
  EXPECT_EQ(after_moving("c", {.onto = "c", .side = Side::left}), "([*a b]|[*c])");
}

TEST_F(ALayout, DividesAPlaceAtEachSide) {
  const auto divided = [&](Side side) {
    all_ = two_places();
    return after_moving("b", {.onto = "c", .side = side, .tab = 0, .size = 120});
  };
  EXPECT_EQ(divided(Side::left), "([*a]|([*b]|[*c]))");
  EXPECT_EQ(all_.parts[1].sized, 0U);
  EXPECT_EQ(all_.parts[1].size, 120);
  EXPECT_EQ(divided(Side::right), "([*a]|([*c]|[*b]))");
  EXPECT_EQ(all_.parts[1].sized, 1U);
  EXPECT_EQ(divided(Side::above), "([*a]|([*b]/[*c]))");
  EXPECT_EQ(divided(Side::below), "([*a]|([*c]/[*b]))");
}

TEST_F(ALayout, DividesThePlaceThatThePanelComesFrom) {
  EXPECT_EQ(after_moving("a", {.onto = "a", .side = Side::below}), "(([*b]/[*a])|[*c])");
}

TEST_F(ALayout, GivesTheRoomOfAnEmptyPlaceToTheOtherOne) {
  close(all_, "c");
  EXPECT_EQ(text(all_), "[*a b]");
}

TEST_F(ALayout, PutsTheNeighbourInFrontOfAClosedPanel) {
  close(all_, "a");
  EXPECT_EQ(text(all_), "([*b]|[*c])");
}

TEST_F(ALayout, KeepsItsLastPanel) {
  for (const char* const panel : {"a", "b", "c", "c"}) {
    close(all_, panel);
  }
  EXPECT_EQ(text(all_), "[*c]");
}

TEST_F(ALayout, OpensAClosedPanelBesideThoseItUsuallyIsWith) {
  for (Layout& layout : usual_layouts()) {
    const std::string before = text(layout.all);
    close(layout.all, "kernels");
    EXPECT_EQ(place_of(layout.all, "kernels"), nullptr);
    show(layout.all, "kernels");
    EXPECT_THAT(place_of(layout.all, "graph")->panels, ElementsAre("graph", "diff", "kernels"));
    EXPECT_EQ(place_of(layout.all, "kernels")->front, "kernels");
  }
  show(all_, "kernels");  // none of them is there
  EXPECT_EQ(text(all_), "([a b *kernels]|[*c])");
}

TEST(FittedSize, IsTheOwnOneWhereThereIsRoom) { EXPECT_EQ(fitted_size(two_places(), 1000), 300); }

TEST(FittedSize, LeavesTheOtherPlaceTwiceTheLeast) {
  Place wide = two_places();
  wide.size = 900;
  EXPECT_EQ(fitted_size(wide, 1000), 760);
  EXPECT_EQ(wide.size, 900);
}

TEST(FittedSize, IsAShareWhereThereIsNoRoom) { EXPECT_EQ(fitted_size(two_places(), 200), 100); }

TEST(FittedSize, IsAtLeastWhatATabNeeds) {
  Place narrow = two_places();
  narrow.size = 3;
  EXPECT_EQ(fitted_size(narrow, 1000), 120);
  narrow.beside = false;
  EXPECT_EQ(fitted_size(narrow, 1000), 60);
}

TEST(ADividedPlace, HasRoomWhereBothPartsCanBeSeen) {
  EXPECT_TRUE(has_room(two_places(), 240));
  EXPECT_FALSE(has_room(two_places(), 239));
}

TEST(ADividedPlace, IsJoinedWithThePanelInFrontThatWasShownLast) {
  EXPECT_EQ(text(joined(two_places(), "b")), "[a *b c]");
}

TEST(ADividedPlace, IsJoinedWithThePartInFrontThatHasTheRest) {
  EXPECT_EQ(text(joined(two_places(), "")), "[a b *c]");
}

TEST(LayoutNames, AreVisibleAndShort) {
  EXPECT_TRUE(is_layout_name("Mine, 2"));
  EXPECT_TRUE(is_layout_name(std::string(40, 'x')));
  EXPECT_FALSE(is_layout_name(std::string(41, 'x')));
  EXPECT_FALSE(is_layout_name(""));
  EXPECT_FALSE(is_layout_name("  "));
  EXPECT_FALSE(is_layout_name("a\nb"));
}

}  // namespace
}  // namespace reprise::debugger
