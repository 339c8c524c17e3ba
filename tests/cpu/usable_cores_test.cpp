// Threads are counted by cores that the process may use, not by hardware threads.
#include "backends/cpu/usable_cores.h"

#include "tests/testing.h"

namespace reprise::cpu {
namespace {

/// Pairs of hardware threads: 0 and 4, 1 and 5...
std::string pairs(std::size_t cpu) {
  return std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4);
}

TEST(UsableCores, CountsTheThreadsOfACoreOnce) {
  EXPECT_EQ(usable_cores({std::vector<bool>(8, true), pairs, ""}), 4U);
}

TEST(UsableCores, CountsACoreOfWhichOnlyTheSecondThreadIsAllowed) {
  const std::vector<bool> upper{false, false, false, false, true, true, false, false};
  EXPECT_EQ(usable_cores({upper, pairs, ""}), 2U);
}

TEST(UsableCores, ReadsRanges) {
  EXPECT_EQ(usable_cores({std::vector<bool>(8, true),
                          [](std::size_t cpu) { return cpu < 4 ? "0-3" : "4-7"; }, ""}),
            2U);
}

TEST(UsableCores, CountsAllWhoseSiblingsAreUnknown) {
  EXPECT_EQ(usable_cores({std::vector<bool>(3, true), [](std::size_t) { return ""; }, ""}), 3U);
}

TEST(UsableCores, KeepsToTheQuota) {
  const auto with = [](const char* quota) {
    return usable_cores({std::vector<bool>(8, true), pairs, quota});
  };
  EXPECT_EQ(with("max 100000"), 4U);
  EXPECT_EQ(with("250000 100000"), 2U);
  EXPECT_EQ(with("50000 100000"), 1U);
  EXPECT_EQ(with("9000000 100000"), 4U);
  EXPECT_EQ(with("0 0"), 4U);
}

TEST(UsableCores, IsOneWhereNothingIsKnown) { EXPECT_EQ(usable_cores({{}, pairs, ""}), 1U); }

TEST(UsableCores, OfThisProcessAreNoMoreThanItsProcessors) {
  EXPECT_GE(usable_cores(), 1U);
  EXPECT_LE(usable_cores(), std::max(std::thread::hardware_concurrency(), 1U));
}

}  // namespace
}  // namespace reprise::cpu
