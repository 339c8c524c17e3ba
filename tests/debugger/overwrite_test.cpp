#include "debugger/model/overwrite.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/debugger/synthetic_capture.h"

namespace reprise::debugger {
namespace {

/// Four nodes in a chain with a step each; tensor 2 n + 1 is the result of node n. Every result has
/// a place of its own, 256 bytes each.
Capture chain() {
  Capture capture = reprise::testing::chain_capture({{"", "a"}, {"", "b"}, {"", "c"}, {"", "d"}});
  capture.pools = {{"arena", 4096}};
  for (std::uint32_t t = 0; t < capture.tensors.size(); ++t) {
    capture.tensors[t].pool = 0;
    capture.tensors[t].offset_bytes = 256 * t;
  }
  for (std::uint32_t n = 0; n < capture.nodes.size(); ++n) {
    const std::uint32_t last = capture.nodes[n].operands.first + capture.nodes[n].operands.count;
    capture.tensors[capture.operands[last - 1].tensor].first_step = n;
  }
  return capture;
}

std::uint32_t result_of(const Capture& capture, std::uint32_t node) {
  const Capture::Range operands = capture.nodes[node].operands;
  return capture.operands[operands.first + operands.count - 1].tensor;
}

TEST(Overwrite, IsTheFirstStepThatWritesIntoTheSameBytes) {
  Capture capture = chain();
  const std::uint32_t a = result_of(capture, 0), c = result_of(capture, 2);
  EXPECT_FALSE(overwrite_of(capture, a));
  capture.tensors[c].offset_bytes = capture.tensors[a].offset_bytes + 255;
  capture.tensors[result_of(capture, 3)].offset_bytes = capture.tensors[a].offset_bytes;
  const auto found = overwrite_of(capture, a);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 2U);
  EXPECT_EQ(found->node, 2U);
  EXPECT_EQ(found->tensor, c);
  capture.tensors[c].offset_bytes += 1;
  EXPECT_EQ(overwrite_of(capture, a)->step, 3U);
}

TEST(Overwrite, OfWhatComesLaterIsNotWhatLayThereBefore) {
  Capture capture = chain();
  capture.tensors[result_of(capture, 2)].offset_bytes =
      capture.tensors[result_of(capture, 0)].offset_bytes;
  EXPECT_FALSE(overwrite_of(capture, result_of(capture, 2)));
}

TEST(Overwrite, MayBeOfATensorThatIsWrittenInPlace) {
  Capture capture = chain();
  const std::uint32_t a = result_of(capture, 0);
  capture.operands[capture.nodes[1].operands.first].tensor = a;
  capture.operands[capture.nodes[1].operands.first].writes = true;
  const auto found = overwrite_of(capture, a);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->node, 1U);
  EXPECT_EQ(found->tensor, a);
}

TEST(Overwrite, MayBeByScratchThatIsNoOperand) {
  Capture capture = chain();
  Capture::Tensor scratch = capture.tensors[result_of(capture, 0)];
  scratch.role = "scratch";
  scratch.first_step = 1;
  capture.tensors.push_back(scratch);
  const auto found = overwrite_of(capture, result_of(capture, 0));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 1U);
  EXPECT_EQ(found->tensor, capture.tensors.size() - 1);
}

TEST(Overwrite, NeedsAPlaceInThePlan) {
  Capture capture = chain();
  const std::uint32_t a = result_of(capture, 0), b = result_of(capture, 1);
  capture.tensors[b].offset_bytes = capture.tensors[a].offset_bytes;
  EXPECT_TRUE(overwrite_of(capture, a));
  capture.tensors[a].pool.reset();
  EXPECT_FALSE(overwrite_of(capture, a));
}

TEST(Overwrite, IsFoundInPlansThatCannotBe) {
  Capture capture = chain();
  const std::uint32_t a = result_of(capture, 0), b = result_of(capture, 1);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  capture.tensors[a].offset_bytes = kMost - 1;
  capture.tensors[a].bytes = kMost;
  capture.tensors[b].offset_bytes = kMost;
  capture.tensors[b].first_step = 4'000'000'000U;
  EXPECT_EQ(overwrite_of(capture, a)->node, 1U);
  capture.nodes[1].steps.count = 0;
  EXPECT_FALSE(overwrite_of(capture, a));
}

}  // namespace
}  // namespace reprise::debugger
