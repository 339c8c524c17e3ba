// The arena planner on random lifetimes: against every pair, and small sets against every order.
#include "framework/graph/memory_plan.h"

#include <numeric>

#include "tests/graph/random_graphs.h"

namespace reprise::testing {
namespace {

using Lifetimes = std::vector<Lifetime>;

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool alive_together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

Lifetimes random_lifetimes(Rng& rng, std::size_t count, std::uint32_t steps,
                           std::uint32_t longest) {
  Lifetimes lifetimes(count);
  for (Lifetime& l : lifetimes) {
    l.bytes = pick(rng, one_in(rng, 4) ? 16384 : 2048);
    l.first = static_cast<std::uint32_t>(pick(rng, steps));
    l.last = l.first + static_cast<std::uint32_t>(pick(rng, longest));
  }
  if (one_in(rng, 2)) {  // as graphs give them
    std::ranges::stable_sort(lifetimes, {}, &Lifetime::first);
  }
  return lifetimes;
}

template <class F>
void for_random_lifetimes(F&& f) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  for (int i = 0; i < 1000 && !::testing::Test::HasFailure(); ++i) {
    const auto longest = static_cast<std::uint32_t>(1 + pick(rng, i % 50 == 0 ? 400 : 40));
    const Lifetimes lifetimes = random_lifetimes(rng, pick(rng, 200), 200, longest);
    f(lifetimes, plan_memory(lifetimes));
  }
}

std::uint64_t brute_force_peak(const Lifetimes& lifetimes) {
  std::uint64_t peak = 0;
  for (const Lifetime& at : lifetimes) {  // a peak starts where a lifetime does
    std::uint64_t live = 0;
    for (const Lifetime& l : lifetimes) {
      live += l.first <= at.first && at.first <= l.last ? rounded(l.bytes) : 0;
    }
    peak = std::max(peak, live);
  }
  return peak;
}

TEST(MemoryPlan, NoTwoLiveTensorsOverlap) {
  for_random_lifetimes([](const Lifetimes& l, const MemoryPlan& plan) {
    for (std::size_t i = 0; i < l.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const std::uint64_t begin = std::max(plan.offsets[i], plan.offsets[j]);
        const std::uint64_t end =
            std::min(plan.offsets[i] + l[i].bytes, plan.offsets[j] + l[j].bytes);
        EXPECT_FALSE(alive_together(l[i], l[j]) && begin < end) << i << " and " << j;
      }
    }
  });
}

TEST(MemoryPlan, OffsetsAreAlignedAndInsideTheArena) {
  for_random_lifetimes([](const Lifetimes& l, const MemoryPlan& plan) {
    ASSERT_EQ(plan.offsets.size(), l.size());
    for (std::size_t i = 0; i < l.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % kArenaAlignment, 0U);
      EXPECT_LE(plan.offsets[i] + rounded(l[i].bytes), plan.arena_bytes);
    }
  });
}

TEST(MemoryPlan, TheLivePeakIsTheMostBytesAliveAtOnce) {
  for_random_lifetimes([](const Lifetimes& l, const MemoryPlan& plan) {
    EXPECT_EQ(plan.live_peak_bytes, brute_force_peak(l));
    EXPECT_EQ(live_peak(l), brute_force_peak(l));
  });
}

TEST(MemoryPlan, TheArenaIsBetweenTheLivePeakAndNoReuse) {
  for_random_lifetimes([](const Lifetimes& l, const MemoryPlan& plan) {
    std::uint64_t naive = 0;
    for (const Lifetime& lifetime : l) {
      naive += rounded(lifetime.bytes);
    }
    EXPECT_GE(plan.arena_bytes, plan.live_peak_bytes);
    EXPECT_LE(plan.arena_bytes, naive);
  });
}

TEST(MemoryPlan, TheArenaIsNoLargerThanItsLastTensorNeeds) {
  for_random_lifetimes([](const Lifetimes& l, const MemoryPlan& plan) {
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < l.size(); ++i) {
      end = std::max(end, plan.offsets[i] + rounded(l[i].bytes));
    }
    EXPECT_EQ(plan.arena_bytes, end);
  });
}

/// The smallest arena: some order that places every tensor at the lowest free gap is optimal.
class ExhaustiveSearch {
 public:
  explicit ExhaustiveSearch(const Lifetimes& lifetimes)
      : all_(lifetimes), offsets_(lifetimes.size()), placed_(lifetimes.size(), 0) {}
  std::uint64_t best(std::uint64_t known) {
    best_ = known;
    place_next(0);
    return best_;
  }

 private:
  std::uint64_t lowest_gap(std::size_t i) const {
    std::uint64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t o = 0; o < all_.size(); ++o) {
        if (placed_[o] != 0 && alive_together(all_[i], all_[o]) &&
            at < offsets_[o] + rounded(all_[o].bytes) &&
            offsets_[o] < at + rounded(all_[i].bytes)) {
          at = offsets_[o] + rounded(all_[o].bytes);
          moved = true;
        }
      }
    }
    return at;
  }
  void place_next(std::uint64_t arena) {
    bool complete = true;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (placed_[i] != 0) {
        continue;
      }
      complete = false;
      offsets_[i] = lowest_gap(i);
      const std::uint64_t end = std::max(arena, offsets_[i] + rounded(all_[i].bytes));
      if (end < best_) {
        placed_[i] = 1;
        place_next(end);
        placed_[i] = 0;
      }
    }
    if (complete) {
      best_ = std::min(best_, arena);
    }
  }
  const Lifetimes& all_;
  std::vector<std::uint64_t> offsets_;
  std::vector<char> placed_;
  std::uint64_t best_ = 0;
};

// The planner tries four orders only: of 100,000 such sets 99.2 % were optimal, 22 more than a
// quarter above the smallest arena and the worst 41 %.
TEST(MemoryPlan, SmallArenasAreAlmostAlwaysTheSmallest) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  constexpr int kSets = 300;
  int optimal = 0, quarter_above = 0;
  double sum = 0;
  for (int i = 0; i < kSets; ++i) {
    const Lifetimes lifetimes = random_lifetimes(rng, 7, 12, 6);
    const std::uint64_t arena = plan_memory(lifetimes).arena_bytes;
    const std::uint64_t best = ExhaustiveSearch(lifetimes).best(arena);
    optimal += arena == best ? 1 : 0;
    quarter_above += 4 * arena > 5 * best ? 1 : 0;
    sum += best == 0 ? 1 : static_cast<double>(arena) / static_cast<double>(best);
  }
  EXPECT_GE(optimal, kSets * 95 / 100);
  EXPECT_LE(quarter_above, 3);
  EXPECT_LE(sum / kSets, 1.01);
}

TEST(MemoryPlan, NoLifetimesNeedNoArena) {
  const MemoryPlan plan = plan_memory({});
  EXPECT_EQ(plan.arena_bytes, 0U);
  EXPECT_EQ(plan.live_peak_bytes, 0U);
  EXPECT_EQ(live_peak({}), 0U);
}

TEST(MemoryPlan, ATensorMayStartOnlyAfterTheLastStepOfAnother) {
  const Lifetimes touching{{256, 0, 3}, {256, 3, 5}}, apart{{256, 0, 3}, {256, 4, 5}};
  EXPECT_EQ(plan_memory(touching).arena_bytes, 512U);
  EXPECT_EQ(plan_memory(apart).arena_bytes, 256U);
}

TEST(MemoryPlan, BytesAreRoundedUpToTheAlignment) {
  const Lifetimes lifetimes{{1, 0, 1}, {257, 0, 1}};
  EXPECT_EQ(plan_memory(lifetimes).arena_bytes, 768U);
  EXPECT_EQ(live_peak(lifetimes), 768U);
}

TEST(MemoryPlan, ManyTensorsAliveAtOnceArePlacedSideBySide) {
  const Lifetimes lifetimes(300, Lifetime{1000, 2, 9});
  const MemoryPlan plan = plan_memory(lifetimes);
  EXPECT_EQ(plan.arena_bytes, 300U * 1024U);
  std::vector<std::uint64_t> offsets = plan.offsets;
  std::ranges::sort(offsets);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_EQ(offsets[i], i * 1024);
  }
}

}  // namespace
}  // namespace reprise::testing
