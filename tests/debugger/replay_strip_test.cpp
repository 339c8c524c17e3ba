#include "debugger/model/replay_strip.h"

#include <algorithm>
#include <random>

#include "tests/seed.h"

namespace reprise::debugger {
namespace {

std::vector<ReplayRow> rows_of(const std::vector<std::uint64_t>& durations) {
  std::vector<ReplayRow> rows(durations.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].device_ns = durations[r];
  }
  return rows;
}

TEST(ReplayStrip, EveryColumnShowsTheLongestOfItsReplays) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> durations(1 + random() % 300);
    std::generate(durations.begin(), durations.end(), [&] { return 1 + random() % 1000; });
    const std::size_t columns = 1 + random() % 100;
    const ReplayStrip strip = make_strip(rows_of(durations), columns);
    ASSERT_EQ(strip.columns.size(), std::min(columns, durations.size()));
    std::size_t next = 0;
    for (std::size_t c = 0; c < strip.columns.size(); ++c) {
      const StripColumn& column = strip.columns[c];
      ASSERT_EQ(column.first, next);
      ASSERT_GE(column.last, column.first);
      next = column.last + 1;
      const auto longest =
          std::max_element(durations.begin() + static_cast<std::ptrdiff_t>(column.first),
                           durations.begin() + static_cast<std::ptrdiff_t>(next));
      EXPECT_EQ(column.tallest, static_cast<std::size_t>(longest - durations.begin()));
      EXPECT_EQ(column.duration_ns, *longest);
      for (std::size_t r = column.first; r <= column.last; ++r) {
        EXPECT_EQ(column_of(r, durations.size(), columns), c);
      }
    }
    EXPECT_EQ(next, durations.size());
  }
}

TEST(ReplayStrip, AColumnHasTheWorstKindOfItsReplays) {
  std::vector<ReplayRow> rows = rows_of(std::vector<std::uint64_t>(100, 1000));
  rows[0].warm_up = true;
  rows[0].device_ns = 90'000;
  rows[30].device_ns = 1501;
  rows[31].device_ns = 1500;
  rows[60].status = 4;
  const ReplayStrip strip = make_strip(rows, 10);
  EXPECT_EQ(strip.p95_ns, 1000U);
  EXPECT_EQ(strip.scale_ns, 2000U);
  EXPECT_EQ(strip.columns[0].kind, ReplayKind::warm_up);
  EXPECT_EQ(strip.columns[1].kind, ReplayKind::normal);
  EXPECT_EQ(strip.columns[3].kind, ReplayKind::outlier);
  EXPECT_EQ(strip.columns[6].kind, ReplayKind::failed);
}

TEST(ReplayStrip, OneOutlierAmongFewIsCutAndMarked) {
  std::vector<std::uint64_t> durations(10, 1000);
  durations[4] = 60'000;
  const ReplayStrip strip = make_strip(rows_of(durations), 10);
  EXPECT_EQ(strip.scale_ns, 2000U);
  EXPECT_EQ(strip.columns[4].kind, ReplayKind::outlier);
  EXPECT_EQ(make_strip(rows_of({7}), 10).scale_ns, 7U);
}

TEST(ReplayStrip, ReplaysThatHeldANanStandOut) {
  std::vector<ReplayRow> rows = rows_of({10, 10, 10});
  rows[1].id = 7;
  const std::int64_t bad[] = {7};
  const ReplayStrip strip = make_strip(rows, 3, bad);
  EXPECT_EQ(strip.columns[1].kind, ReplayKind::not_finite);
  EXPECT_EQ(strip.counts[static_cast<std::size_t>(ReplayKind::not_finite)], 1U);
}

TEST(ReplayStrip, WithoutDeviceTimesItShowsWhatTheHostSpent) {
  ReplayRow row;
  EXPECT_EQ(replay_duration(row), std::nullopt);
  row.submit_ns = 30;
  row.wait_ns = 4;
  EXPECT_EQ(replay_duration(row), 34U);
  row.device_ns = 7;
  EXPECT_EQ(replay_duration(row), 7U);
}

TEST(ReplayStrip, StateIsNamedByItsFields) {
  Capture capture;
  capture.state_fields.resize(4);
  const char* const names[] = {"token", "rate", "row", "far"};
  const char* const types[] = {"i32", "f32", "i32", "i32"};
  const std::uint32_t offsets[] = {0, 4, 8, 4000};
  for (std::size_t f = 0; f < 4; ++f) {
    capture.state_fields[f].name = names[f];
    capture.state_fields[f].type = types[f];
    capture.state_fields[f].offset_bytes = offsets[f];
  }
  capture.state_fields[1].owner = "carried";
  capture.state_fields[2].count = 8;
  ReplayTable table;
  table.rows.resize(2);
  table.state_words = 3;
  table.state = {0, 0, 0, 0xFFFFFFFF, 0x3F000000, 9};
  EXPECT_EQ(state_text(capture, table, 1), "rate 0.5, token -1");
  table.state.clear();
  EXPECT_EQ(state_text(capture, table, 1), "");
}

}  // namespace
}  // namespace reprise::debugger
