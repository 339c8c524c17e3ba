// The hazard tracker against every pair of steps of random sequences, and by hand on small ones.
#include "framework/graph/hazards.h"

#include "tests/graph/random_graphs.h"

namespace reprise::testing {
namespace {

struct Sequence {
  std::vector<Touches> steps;
  std::vector<Barrier> barriers;
};

/// Aliased, overlapping and empty ranges over a few buffers; from many reads to many writes, from
/// narrow ranges (many segments between two barriers) to ranges as wide as the buffer.
Sequence random_sequence(Rng& rng, HazardTracker& tracker, std::size_t longest) {
  const std::uint64_t buffers = 1 + pick(rng, 4), span = 4 + pick(rng, 4000);
  const std::uint64_t width = 1 + pick(rng, one_in(rng, 2) ? span : 12);
  const std::uint64_t write_percent = one_in(rng, 4) ? 0 : pick(rng, 100);
  Sequence sequence;
  sequence.steps.resize(1 + pick(rng, longest));
  tracker.forget();
  const std::size_t before = tracker.barriers().size();
  for (std::uint32_t i = 0; i < sequence.steps.size(); ++i) {
    Touches& touches = sequence.steps[i];
    touches.resize(pick(rng, 6));
    for (Touch& t : touches) {
      const std::uint64_t begin = pick(rng, span);
      t.range = {static_cast<std::uint32_t>(pick(rng, buffers)), begin,
                 begin + pick(rng, width + 1)};
      t.access = pick(rng, 100) >= write_percent + (one_in(rng, 50) ? 20 : 0) ? Access::read
                 : one_in(rng, 3)                                             ? Access::read_write
                                                                              : Access::write;
    }
    tracker.step(i, touches);
  }
  const auto own = std::span(tracker.barriers()).subspan(before);
  sequence.barriers.assign(own.begin(), own.end());
  return sequence;
}

template <class F>
void for_random_sequences(F&& f) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  HazardTracker tracker;
  std::size_t barriers = 0;
  for (int i = 0; i < 2000 && !::testing::Test::HasFailure(); ++i) {
    const Sequence sequence = random_sequence(rng, tracker, i % 20 == 0 ? 200 : 50);
    f(sequence, BarrierOracle(sequence.steps));
    barriers += sequence.barriers.size();
  }
  EXPECT_GT(barriers, 5000U) << "the sequences are too tame to show anything";
}

TEST(Hazards, EveryHazardPairIsSeparatedByABarrier) {
  for_random_sequences([](const Sequence& sequence, const BarrierOracle& oracle) {
    EXPECT_EQ(oracle.uncovered(sequence.barriers), 0U);
  });
}

TEST(Hazards, EveryBarrierHasARealCause) {
  for_random_sequences([](const Sequence& sequence, const BarrierOracle& oracle) {
    EXPECT_EQ(oracle.without_cause(sequence.barriers), 0U);
  });
}

TEST(Hazards, RemovingAnyBarrierUncoversAPair) {
  for_random_sequences([](const Sequence& sequence, const BarrierOracle& oracle) {
    EXPECT_EQ(oracle.removable(sequence.barriers), 0U);
  });
}

TEST(Hazards, NoSmallerSetOfBarriersIsEnough) {
  for_random_sequences([](const Sequence& sequence, const BarrierOracle& oracle) {
    EXPECT_EQ(sequence.barriers.size(), oracle.min());
  });
}

/// The kind of a barrier follows from some touch of its cause that meets its range.
bool kind_is_true(const Sequence& sequence, const Barrier& barrier) {
  for (const Touch& later : sequence.steps[barrier.before_step]) {
    if (later.range.buffer != barrier.range.buffer || later.range.begin != barrier.range.begin ||
        later.range.end != barrier.range.end) {
      continue;
    }
    for (const Touch& earlier : sequence.steps[barrier.cause_src]) {
      const HazardKind kind = !writes(earlier.access) ? HazardKind::war
                              : reads(later.access)   ? HazardKind::raw
                                                      : HazardKind::waw;
      if (conflict(earlier, later) && kind == barrier.kind) {
        return true;
      }
    }
  }
  return false;
}

TEST(Hazards, EveryBarrierNamesItsRangeAndKind) {
  for_random_sequences([](const Sequence& sequence, const BarrierOracle&) {
    for (const Barrier& barrier : sequence.barriers) {
      EXPECT_TRUE(kind_is_true(sequence, barrier)) << name_of(barrier.kind);
    }
  });
}

TEST(Hazards, ThousandsOfSegmentsBetweenTwoBarriersAreAllRemembered) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  std::vector<std::uint64_t> begins(3000);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    begins[i] = i * 10;
  }
  std::ranges::shuffle(begins, rng);
  HazardTracker tracker;
  for (std::uint32_t i = 0; i < begins.size(); ++i) {
    ASSERT_FALSE(tracker.step(i, Touches{{{0, begins[i], begins[i] + 4}, Access::write}}));
  }
  for (std::uint32_t i = 0; i < begins.size(); ++i) {  // the gaps are free
    ASSERT_FALSE(
        tracker.step(3000 + i, Touches{{{0, begins[i] + 4, begins[i] + 10}, Access::read}}));
  }
  const std::size_t chosen = pick(rng, begins.size());
  ASSERT_TRUE(
      tracker.step(6000, Touches{{{0, begins[chosen] + 3, begins[chosen] + 4}, Access::read}}));
  EXPECT_EQ(tracker.barriers().at(0).cause_src, chosen);
}

class TwoSteps : public ::testing::Test {
 protected:
  /// The barriers of two steps that touch bytes 0 to 8 and `second` of one buffer.
  std::vector<Barrier> barriers(Access first, Access second, Range range = {0, 0, 8}) {
    HazardTracker tracker;
    EXPECT_FALSE(tracker.step(0, Touches{{{0, 0, 8}, first}}));
    const bool waits = tracker.step(1, Touches{{range, second}});
    EXPECT_EQ(waits, !tracker.barriers().empty());
    return tracker.barriers();
  }
};

TEST_F(TwoSteps, AReadAfterAWriteIsRaw) {
  EXPECT_EQ(barriers(Access::write, Access::read).at(0).kind, HazardKind::raw);
}

TEST_F(TwoSteps, AWriteAfterAReadIsWar) {
  EXPECT_EQ(barriers(Access::read, Access::write).at(0).kind, HazardKind::war);
}

TEST_F(TwoSteps, AWriteAfterAWriteIsWaw) {
  EXPECT_EQ(barriers(Access::write, Access::write).at(0).kind, HazardKind::waw);
}

TEST_F(TwoSteps, AnUpdateAfterAWriteIsRaw) {
  EXPECT_EQ(barriers(Access::write, Access::read_write).at(0).kind, HazardKind::raw);
}

TEST_F(TwoSteps, AnUpdateAfterAReadIsWar) {
  EXPECT_EQ(barriers(Access::read, Access::read_write).at(0).kind, HazardKind::war);
}

TEST_F(TwoSteps, TwoReadsNeedNoBarrier) {
  EXPECT_TRUE(barriers(Access::read, Access::read).empty());
}

TEST_F(TwoSteps, OneSharedByteIsEnough) {
  EXPECT_EQ(barriers(Access::write, Access::read, {0, 7, 20}).size(), 1U);
}

TEST_F(TwoSteps, NeighboursAreIndependent) {
  EXPECT_TRUE(barriers(Access::write, Access::write, {0, 8, 16}).empty());
}

TEST_F(TwoSteps, BuffersAreIndependent) {
  EXPECT_TRUE(barriers(Access::write, Access::write, {1, 0, 8}).empty());
}

TEST_F(TwoSteps, AnEmptyRangeInsideAWrittenOneNeedsNoBarrier) {
  EXPECT_TRUE(barriers(Access::write, Access::read_write, {0, 4, 4}).empty());
}

TEST_F(TwoSteps, TheBarrierNamesStepsAndTheWaitingRange) {
  const Barrier barrier = barriers(Access::write, Access::read, {0, 2, 30}).at(0);
  EXPECT_EQ(barrier.before_step, 1U);
  EXPECT_EQ(barrier.cause_src, 0U);
  EXPECT_EQ(barrier.range.begin, 2U);
  EXPECT_EQ(barrier.range.end, 30U);
}

TEST(Hazards, AStepDoesNotWaitForItself) {
  HazardTracker tracker;
  EXPECT_FALSE(tracker.step(
      0,
      Touches{{{0, 0, 8}, Access::read}, {{0, 4, 12}, Access::write}, {{0, 0, 8}, Access::write}}));
}

TEST(Hazards, AWriteHiddenBehindTheReadsOfItsOwnStepIsSeen) {
  HazardTracker tracker;
  tracker.step(0, Touches{{{0, 0, 8}, Access::read}, {{0, 4, 12}, Access::write}});
  EXPECT_TRUE(tracker.step(1, Touches{{{0, 6, 7}, Access::read}}));
}

TEST(Hazards, OneBarrierServesEverythingBeforeIt) {
  HazardTracker tracker;
  tracker.step(0, Touches{{{0, 0, 8}, Access::write}});
  tracker.step(1, Touches{{{1, 0, 8}, Access::write}});
  EXPECT_TRUE(tracker.step(2, Touches{{{0, 0, 8}, Access::read}}));
  EXPECT_FALSE(tracker.step(3, Touches{{{1, 0, 8}, Access::read}}));
}

TEST(Hazards, ABarrierOfSomebodyElseForgetsAccesses) {
  HazardTracker tracker;
  tracker.step(0, Touches{{{0, 0, 8}, Access::write}});
  tracker.step(1, Touches{{{0, 0, 8}, Access::write}});
  tracker.forget();
  EXPECT_FALSE(tracker.step(0, Touches{{{0, 0, 8}, Access::read_write}}));
}

}  // namespace
}  // namespace reprise::testing
