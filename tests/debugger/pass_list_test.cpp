#include "debugger/model/pass_list.h"

#include <gmock/gmock.h>
#include <limits>

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;

Capture decided() {
  Capture capture;
  capture.pass_decisions = {{"dead_nodes", "removed", 7, true, "nobody reads it", {}},
                            {"in_place", "shared", 2, true, "x is not read again", {}},
                            {"in_place", "shared", 3, false, "add reads x later", {}},
                            {"reorder", "order", {}, true, "by memory", 1500},
                            {"reorder", "moved", 4, false, "no gain", -20},
                            {"reorder", "moved", 5, true, "", 0}};
  return capture;
}

TEST(PassList, GroupsByPassAndKind) {
  const PassList list = make_pass_list(decided());
  EXPECT_THAT(
      list.groups,
      ElementsAre(PassGroup{"dead_nodes", "removed", 1, 1}, PassGroup{"in_place", "shared", 2, 1},
                  PassGroup{"reorder", "moved", 2, 1}, PassGroup{"reorder", "order", 1, 1}));
  EXPECT_THAT(list.group_of, ElementsAre(0, 1, 1, 3, 2, 2));
}

TEST(PassList, RowsAreOfAGroupAndAFilter) {
  const Capture capture = decided();
  const PassList list = make_pass_list(capture);
  EXPECT_THAT(pass_rows(capture, list, PassFilter::all, {}), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(pass_rows(capture, list, PassFilter::refused, {}), ElementsAre(2, 4));
  EXPECT_THAT(pass_rows(capture, list, PassFilter::applied, 2), ElementsAre(5));
  EXPECT_THAT(pass_rows(capture, list, PassFilter::all, 1), ElementsAre(1, 2));
}

TEST(PassList, EstimatesHaveASign) {
  const Capture capture = decided();
  EXPECT_EQ(estimate_text(capture.pass_decisions[0]), "");
  EXPECT_EQ(estimate_text(capture.pass_decisions[3]), "1.50 \xC2\xB5s");
  EXPECT_EQ(estimate_text(capture.pass_decisions[4]), "-20 ns");
  EXPECT_EQ(estimate_text(capture.pass_decisions[5]), "0 ns");
  Capture::PassDecision min;
  min.estimate_ns = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(estimate_text(min), "-9223372037 s");
}

}  // namespace
}  // namespace reprise::debugger
