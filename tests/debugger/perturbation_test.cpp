#include "debugger/model/perturbation.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

ModeTimes times(std::int64_t run, TimingMode mode, std::optional<double> device, double host,
                std::uint64_t replays = 20) {
  return {run, mode, replays, device, host};
}

TEST(Perturbation, IsWhatTimingAddsToTheMedianOnTheDevice) {
  const auto found = perturbation_of(
      {times(1, TimingMode::node, 1100, 5000), times(1, TimingMode::replay, 1000, 1)}, 1);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->cost, 0.1, 1e-12);
  EXPECT_TRUE(found->on_device);
  EXPECT_EQ(perturbation_text(found), "timing costs +10.0 %");
  EXPECT_THAT(perturbation_details(found), HasSubstr("1.10 \xC2\xB5s in 20 replays of run 1"));
}

TEST(Perturbation, WithoutDeviceTimesItIsThatOfTheHost) {
  const auto found = perturbation_of(
      {times(1, TimingMode::node, 1100, 3000), times(1, TimingMode::off, {}, 4000)}, 1);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->on_device);
  EXPECT_EQ(perturbation_text(found), "timing costs -25.0 %");
}

TEST(Perturbation, ItsOwnRunComesFirstThenTheLatest) {
  const std::vector<ModeTimes> modes = {
      times(4, TimingMode::replay, 40, 1), times(3, TimingMode::replay, 30, 1),
      times(2, TimingMode::node, 60, 1), times(1, TimingMode::replay, 10, 1)};
  EXPECT_EQ(perturbation_of(modes, 2)->plain.run, 4);
  auto own = modes;
  own.push_back(times(2, TimingMode::off, {}, 1));
  EXPECT_EQ(perturbation_of(own, 2)->plain.run, 2);
}

TEST(Perturbation, AFewReplaysMeasureNothing) {
  EXPECT_FALSE(perturbation_of(
      {times(1, TimingMode::node, 1100, 1), times(1, TimingMode::replay, 1000, 1, 4)}, 1));
  EXPECT_FALSE(perturbation_of({times(1, TimingMode::node, 1100, 1)}, 1));
  EXPECT_FALSE(perturbation_of({}, 1));
  EXPECT_EQ(perturbation_text({}), "cost of timing: not measured");
}

TEST(Perturbation, IsReadFromAllRunsOfTheGraph) {
  const SampleDatabase database;
  const PerturbationKey key{
      std::make_shared<const Capture>(read_capture(database.path(), {.run = 2, .graph = 2}))};
  EXPECT_FALSE(read_perturbation(database.path(), key, {}));
  // Every second replay was not timed per node, and took 4/5 of the time.
  ASSERT_EQ(test::sql(database.path(),
                      "UPDATE replays SET device_ns = CASE WHEN id % 2 THEN 1000 ELSE 800 END, "
                      "timing_mode = CASE WHEN id % 2 THEN 2 ELSE 1 END WHERE recording_id IN "
                      "(SELECT id FROM recordings WHERE run_id = 2)"),
            "");
  const auto measured = read_perturbation(database.path(), key, {});
  ASSERT_TRUE(measured);
  EXPECT_THAT(measured->plain.device_ns, Optional(800.0));
  EXPECT_DOUBLE_EQ(measured->cost, 0.25);
}

TEST(Perturbation, StandsInTheHeader) {
  const SampleDatabase database;
  DebuggerWindow window(database.path(), {.width = 1600, .height = 900});
  window.run(
      "wait\nexpect header/perturbation cost of timing: not measured\n"
      "hover header/perturbation\nexpect tooltip set_timing\nfits");
}

}  // namespace
}  // namespace reprise::debugger
