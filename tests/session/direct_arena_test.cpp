// The arena of direct sessions against a brute-force account of who holds which bytes.
#include "framework/session/device/direct_arena.h"

#include "tests/testing.h"

namespace reprise::testing {
namespace {

bool overlap(const DirectArena::Range& a, const DirectArena::Range& b) {
  return a.chunk == b.chunk && a.begin < b.end && b.begin < a.end;
}

TEST(DirectArena, NeverHandsOutBytesThatAreHeldOrNotYetBehindABarrier) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const Device device = test_device("cpu");
  for (int round = 0; round < 50; ++round) {
    DirectArena arena;
    std::vector<DirectArena::Range> held, waiting, used;
    for (int step = 0; step < 200; ++step) {
      const auto choice = rng() % 8;
      if (choice == 0) {
        arena.barrier();
        waiting.clear();
      } else if (choice < 4 && !held.empty()) {
        const std::size_t i = rng() % held.size();
        arena.release(held[i]);
        waiting.push_back(held[i]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        const bool fresh = rng() % 4 == 0;
        const std::uint64_t bytes = 1 + rng() % (rng() % 16 == 0 ? 3'000'000 : 5'000);
        const auto range = arena.allocate(device, bytes, fresh);
        ASSERT_GE(range.end - range.begin, bytes);
        ASSERT_EQ(range.begin % kStorageAlignment, 0U);
        ASSERT_LE(range.end, arena.chunk(range.chunk)->bytes());
        for (const auto* list : {&held, &waiting}) {
          for (const auto& other : *list) {
            ASSERT_FALSE(overlap(range, other));
          }
        }
        if (fresh) {
          for (const auto& other : used) {
            ASSERT_FALSE(overlap(range, other));
          }
        }
        held.push_back(range);
        used.push_back(range);
      }
    }
  }
}

TEST(DirectArena, ReusesEverythingAfterReset) {
  const Device device = test_device("cpu");
  DirectArena arena;
  for (int i = 0; i < 10; ++i) {
    (void)arena.allocate(device, 400'000, false);
  }
  EXPECT_GT(arena.growths(), 1U);
  arena.reset();
  for (int i = 0; i < 10; ++i) {
    (void)arena.allocate(device, 400'000, true);
  }
  EXPECT_EQ(arena.growths(), 0U);
}

}  // namespace
}  // namespace reprise::testing
