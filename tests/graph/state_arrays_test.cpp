// Arrays in a state layout: where they lie, what is refused.
#include "reprise/graph/state_layout.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

TEST(StateArrays, LieBehindTheBlockThoseOfTheHostFirst) {
  const StateLayout layout = StateLayout()
                                 .carried_array("tokens", 3)
                                 .host("n")
                                 .array("ids", 2)
                                 .derived("m", field("n"))
                                 .carried_array_f32("sums", 4);
  EXPECT_EQ(layout.words(), 2U);
  EXPECT_EQ(layout.words_with_arrays(), 11U);
  std::vector<std::string> names;
  std::uint32_t word = 2;
  for (const StateFieldInfo& info : layout.arrays()) {
    EXPECT_EQ(info.word, word) << info.name;
    word += info.count;
    names.push_back(info.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"ids", "tokens", "sums"}));
}

TEST(StateArrays, AreNoFields) {
  const StateLayout layout = StateLayout().array("ids", 2);
  EXPECT_EQ(layout.find("ids"), nullptr);
  ASSERT_NE(layout.find_array("ids"), nullptr);
  EXPECT_EQ(layout.find_array("ids")->count, 2U);
  EXPECT_EQ(layout.names(), "none");
  EXPECT_EQ(layout.array_names(), "ids");
}

TEST(StateArrays, StartAtTheValueOfTheirRangeNearestToZero) {
  const StateLayout layout = StateLayout()
                                 .array("any", 1)
                                 .array("high", 1, {.low = 3, .high = 9})
                                 .array("low", 1, {.low = -9, .high = -3});
  EXPECT_EQ(std::bit_cast<std::int32_t>(layout.find_array("any")->initial), 0);
  EXPECT_EQ(std::bit_cast<std::int32_t>(layout.find_array("high")->initial), 3);
  EXPECT_EQ(std::bit_cast<std::int32_t>(layout.find_array("low")->initial), -3);
}

TEST(StateArrays, ShareTheirNamesWithNobody) {
  expect_error(ErrorCode::invalid_argument, {"(x)", "declared already"},
               [] { StateLayout().host("x").array("x", 1); });
  expect_error(ErrorCode::invalid_argument, {"(x)", "declared already"},
               [] { StateLayout().array("x", 1).carried("x"); });
  expect_error(ErrorCode::invalid_argument, {"empty"}, [] { StateLayout().array("", 1); });
}

TEST(StateArrays, HaveElements) {
  expect_error(ErrorCode::invalid_argument, {"'x'", "(0)"}, [] { StateLayout().array("x", 0); });
}

TEST(StateArrays, CountAmongTheThousandAndTwentyFourWords) {
  StateLayout layout = StateLayout().array("x", 1023);
  EXPECT_EQ(layout.host("last").words_with_arrays(), 1024U);
  expect_error(ErrorCode::invalid_argument, {"1024", "'more'", "(1025)"},
               [&] { layout.array("more", 1); });
  expect_error(ErrorCode::invalid_argument, {"1024", "'more'"}, [&] { layout.host("more"); });
}

TEST(StateArrays, ARangeWithoutValuesIsRefused) {
  expect_error(ErrorCode::invalid_argument, {"'x'", "low <= high"},
               [] { StateLayout().array("x", 1, {.low = 2, .high = 1}); });
}

}  // namespace
}  // namespace reprise::testing
