#include "debugger/model/node_errors.h"

#include <gmock/gmock.h>
#include <limits>

#include "tests/debugger/synthetic_capture.h"
#include "tests/expect_error.h"

namespace reprise::debugger {
namespace {

using reprise::testing::expect_error;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A chain of five nodes, each reading what the one before it wrote; 2 n + 1 is the result of node
/// n.
class NodeErrorsTest : public ::testing::Test {
 protected:
  void compare(std::uint32_t node, std::optional<double> max_rel, bool pass,
               const std::string& reference = "cpu") {
    ComparisonRow row;
    row.node = node;
    row.tensor = 2 * node + 1;
    row.name = "t" + std::to_string(node);
    row.reference = reference;
    row.max_rel = max_rel;
    row.pass = pass;
    row.tolerance = 1e-3;
    numbers_.comparisons.push_back(row);
  }
  NodeErrors errors(std::optional<double> threshold = {}) const {
    return node_errors(capture_, numbers_, "cpu", threshold);
  }

  const Capture capture_ =
      reprise::testing::chain_capture({{"", "a"}, {"", "b"}, {"", "c"}, {"", "d"}, {"", "e"}});
  TensorStatistics numbers_;
};

TEST_F(NodeErrorsTest, AreByNodeAndBlameTheFirstWhoseInputsPass) {
  compare(3, 0.2, false);
  compare(2, 0.1, false);
  compare(1, 1e-6, true);
  compare(0, 0, true);
  const NodeErrors found = errors();
  ASSERT_THAT(found.rows, SizeIs(4));
  EXPECT_EQ(found.rows[2].node, 2U);
  EXPECT_EQ(found.first, 2U);
  EXPECT_EQ(found.differing, 2U);
  EXPECT_THAT(found.rows[2].blamed, IsEmpty());
  EXPECT_FALSE(found.rows[2].input_differs);
  EXPECT_THAT(found.rows[3].blamed, ElementsAre(2U));
  EXPECT_TRUE(found.rows[3].input_differs);
}

TEST_F(NodeErrorsTest, OfAThresholdReplaceWhatWasFoundWhenComparing) {
  compare(0, 1e-6, true);
  compare(1, 0.01, false);
  compare(2, {}, false);
  EXPECT_EQ(errors().first, 1U);
  EXPECT_EQ(errors(0.05).first, 2U);  // not finite is above every threshold
  EXPECT_EQ(errors(1e-7).first, 0U);
  EXPECT_EQ(errors(1e-7).differing, 3U);
  EXPECT_TRUE(errors(1e-7).rows[1].input_differs);
}

TEST_F(NodeErrorsTest, AreThoseOfTheLatestComparison) {
  compare(0, 0.5, false);
  compare(0, 0.25, false);
  compare(0, 0.125, true, "direct");
  const NodeErrors found = errors();
  ASSERT_THAT(found.rows, SizeIs(1));
  EXPECT_EQ(found.rows[0].max_rel, 0.25);
  EXPECT_THAT(references_of(numbers_), ElementsAre("direct", "cpu"));
}

TEST_F(NodeErrorsTest, TakeTheFilesWordWhereInputsWereNotCompared) {
  compare(3, 0.5, false);
  numbers_.comparisons[0].input_differs = true;
  EXPECT_TRUE(errors().rows[0].input_differs);
  EXPECT_EQ(errors().first, std::nullopt);
  compare(2, 0, true);
  EXPECT_FALSE(errors().rows[1].input_differs);
  EXPECT_EQ(errors().first, 1U);
}

TEST_F(NodeErrorsTest, OfTheWholePassComeLastAndAreNobodysFault) {
  ComparisonRow output;
  output.name = "output 'logits'";
  output.reference = "cpu";
  numbers_.comparisons.push_back(output);
  compare(1, 0.5, true);
  const NodeErrors found = errors();
  ASSERT_THAT(found.rows, SizeIs(2));
  EXPECT_EQ(found.rows[1].name, "output 'logits'");
  EXPECT_TRUE(found.rows[1].differs);
  EXPECT_EQ(found.first, std::nullopt);
}

TEST_F(NodeErrorsTest, TheNextNodeThatIsNotFiniteFollowsAndBeginsAgain) {
  for (std::int64_t node = 0; node < 5; ++node) {
    TensorSums sums;
    sums.node = node;
    sums.nan = node == 3 ? 2 : 0;
    sums.infinite = node == 1 ? std::numeric_limits<std::uint64_t>::max() : 0;
    numbers_.sums.push_back(sums);
  }
  EXPECT_EQ(next_not_finite(numbers_, {}), 1U);
  EXPECT_EQ(next_not_finite(numbers_, 0), 1U);
  EXPECT_EQ(next_not_finite(numbers_, 1), 3U);
  EXPECT_EQ(next_not_finite(numbers_, 3), 1U);
  numbers_.sums.clear();
  EXPECT_EQ(next_not_finite(numbers_, 1), std::nullopt);
}

TEST(ErrorThreshold, IsANumberOrAPercentageOrNone) {
  EXPECT_EQ(threshold_of(" 1e-3 "), 1e-3);
  EXPECT_EQ(threshold_of("0.5%"), 0.005);
  EXPECT_EQ(threshold_of("0"), 0.0);
  EXPECT_EQ(threshold_of("  "), std::nullopt);
}

TEST(ErrorThreshold, OfOtherTextIsRefused) {
  for (const char* const text : {"-1", "nan", "inf", "x", "1e-3x", "%", "1,5"}) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::invalid_argument, {text, "such as 1e-3 or 0.1%"},
                 [&] { threshold_of(text); });
  }
}

}  // namespace
}  // namespace reprise::debugger
