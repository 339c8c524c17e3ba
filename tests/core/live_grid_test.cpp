// How much of a grid runs for so many rows.
#include "framework/core/lowering.h"
#include "reprise/backend/step.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

std::uint64_t count(const Grid& grid) { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }

Shape rows_up_to(std::int64_t bucket) { return {Extent(bucket, 0), 1}; }

TEST(LiveGrid, IsTheGridOfThatManyRows) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (int i = 0; i < 2000; ++i) {
    const auto bucket = static_cast<std::int64_t>(1 + rng() % 3000);
    const std::uint64_t units = 1 + rng() % 70'000;  // of a tile
    const auto tile = static_cast<std::uint32_t>(1 + rng() % 9);
    const auto local = static_cast<std::uint32_t>(1 + rng() % 256);
    const auto rows = static_cast<std::uint32_t>(1 + rng() % static_cast<std::uint64_t>(bucket));
    const auto tiles = [&](std::uint64_t of) { return (of + tile - 1) / tile; };
    const Groups all = groups_for(
        {rows_up_to(bucket), tiles(static_cast<std::uint64_t>(bucket)) * units, tile}, local);
    const Grid live = live_grid(all, rows);
    const Groups exact = groups_for(tiles(rows) * units, local);
    EXPECT_EQ(live, exact.grid) << rows << " of " << bucket << " rows, " << units << " units of "
                                << tile << " rows, " << local << " at once; all of it is "
                                << count(all.grid);
  }
}

TEST(LiveGrid, OfNoRowsIsEmpty) {
  EXPECT_EQ(count(live_grid(groups_for({rows_up_to(9), 90}, 4), 0)), 0U);
}

TEST(LiveGrid, OfAFixedShapeIsAllOfIt) {
  const Groups groups = groups_for({Shape{7, 1}, 70}, 4);
  EXPECT_EQ(live_grid(groups, 1), groups.grid);
}

TEST(LiveGrid, NeverExceedsAllOfIt) {
  const Groups groups = groups_for({rows_up_to(7), 7}, 1);
  EXPECT_EQ(live_grid(groups, 1000), (Grid{7, 1, 1}));
}

TEST(LiveGrid, AlongOneAxisLeavesTheOthers) {
  const Groups groups = groups_along({5, 9, 2}, 0, {rows_up_to(20), 5, 4});
  EXPECT_EQ(live_grid(groups, 9), (Grid{3, 9, 2}));
  const Groups matrices = groups_along({5, 9, 12}, 2, {rows_up_to(6), 12});
  EXPECT_EQ(live_grid(matrices, 2), (Grid{5, 9, 4}));
}

TEST(LiveGrid, MoreGroupsAlongAnAxisThanAnyDriverTakesAreRefused) {
  expect_error(ErrorCode::unsupported, {"(65536)", "65535"}, [] {
    (void)groups_along({1, 65536, 1}, 0, 1);
  });
}

}  // namespace
}  // namespace reprise::testing
