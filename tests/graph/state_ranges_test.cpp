// What fields of a state layout may hold, and which one stops iterations.
#include <cmath>
#include <limits>

#include "reprise/graph/state_layout.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

TEST(StateRanges, AFieldKnowsItsRange) {
  const StateLayout layout = StateLayout()
                                 .host("rows", 1, {.low = 1, .high = 32})
                                 .carried("pos", 0, {.low = 0, .high = 511})
                                 .derived("len", field("pos") + field("rows"), {.high = 512});
  EXPECT_EQ(layout.find("rows")->range, (StateRange{1, 32}));
  EXPECT_EQ(layout.find("pos")->range, (StateRange{0, 511}));
  EXPECT_EQ(layout.find("len")->range, (StateRange{std::numeric_limits<std::int32_t>::min(), 512}));
  EXPECT_TRUE(layout.find("rows")->range.limits());
}

TEST(StateRanges, AFieldWithoutOneMayHoldAnything) {
  const StateLayout layout = StateLayout().host("any");
  EXPECT_FALSE(layout.find("any")->range.limits());
  EXPECT_TRUE(layout.find("any")->range.contains(std::numeric_limits<std::int32_t>::min()));
  EXPECT_TRUE(layout.find("any")->range.contains(std::numeric_limits<std::int32_t>::max()));
}

TEST(StateRanges, BothEndsAreInside) {
  const StateRange range{-1, 2};
  EXPECT_FALSE(range.contains(-2));
  EXPECT_TRUE(range.contains(-1));
  EXPECT_TRUE(range.contains(2));
  EXPECT_FALSE(range.contains(3));
}

TEST(StateRanges, AnInitialValueOutOfRangeIsRefused) {
  expect_error(ErrorCode::invalid_argument, {"'rows'", "1 to 32", "(0)"},
               [] { StateLayout().host("rows", 0, {.low = 1, .high = 32}); });
  expect_error(ErrorCode::invalid_argument, {"'pos'", "0 to 511", "(512)"},
               [] { StateLayout().carried("pos", 512, {.low = 0, .high = 511}); });
}

TEST(StateRanges, ARangeWithoutValuesIsRefused) {
  expect_error(ErrorCode::invalid_argument, {"'rows'", "low <= high", "(3 to 2)"},
               [] { StateLayout().host("rows", 2, {.low = 3, .high = 2}); });
  expect_error(ErrorCode::invalid_argument, {"'len'", "low <= high"}, [] {
    StateLayout().host("rows").derived("len", field("rows"), {.low = 3, .high = 2});
  });
}

TEST(StateRanges, AnInitialValueThatIsNotFiniteIsRefused) {
  expect_error(ErrorCode::invalid_argument, {"'t'", "finite", "(inf)"},
               [] { StateLayout().host_f32("t", kInfinity); });
  expect_error(ErrorCode::invalid_argument, {"'t'", "finite", "nan"},
               [] { StateLayout().carried_f32("t", std::nanf("")); });
}

TEST(StateRanges, CarriedFieldsMayBeFloats) {
  const StateLayout layout = StateLayout().carried_f32("t", 0.5F).host("rows");
  EXPECT_EQ(layout.find("t")->dtype, DType::f32);
  EXPECT_EQ(layout.find("t")->owner, StateOwner::carried);
  EXPECT_EQ(layout.find("t")->initial, std::bit_cast<std::uint32_t>(0.5F));
}

TEST(StopField, ItsWordFollowsTheLayout) {
  StateLayout layout = StateLayout().carried("pos").carried("done").stop_when("done");
  EXPECT_EQ(layout.stop_word(), 1U);
  layout.host("rows");
  EXPECT_EQ(layout.stop_word(), 2U);
}

TEST(StopField, ThereMayBeNone) {
  EXPECT_EQ(StateLayout().carried("done").stop_word(), std::nullopt);
}

TEST(StopField, OnlyADeclaredCarriedI32FieldStopsIterations) {
  expect_error(ErrorCode::invalid_argument, {"(done)", "not declared", "pos"},
               [] { StateLayout().carried("pos").stop_when("done"); });
  expect_error(ErrorCode::invalid_argument, {"(done)", "host and i32"},
               [] { StateLayout().host("done").stop_when("done"); });
  expect_error(ErrorCode::invalid_argument, {"(done)", "derived"},
               [] { StateLayout().carried("a").derived("done", field("a")).stop_when("done"); });
  expect_error(ErrorCode::invalid_argument, {"(done)", "carried and f32"},
               [] { StateLayout().carried_f32("done").stop_when("done"); });
}

TEST(StopField, ThereIsOnlyOne) {
  expect_error(ErrorCode::invalid_argument, {"'done'", "(full)", "second"}, [] {
    StateLayout().carried("done").carried("full").stop_when("done").stop_when("full");
  });
}

}  // namespace
}  // namespace reprise::testing
