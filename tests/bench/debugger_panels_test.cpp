#include "bench/debugger_panels.h"

#include <gtest/gtest.h>

#include "bench/full_capture.h"
#include "bench/temporary_profile.h"
#include "debugger/model/document.h"
#include "debugger/views/shell.h"

namespace reprise::bench {
namespace {

TEST(DebuggerPanels, EveryPanelOfTheWindowHasAFigureInEveryState) {
  const TemporaryProfile profile;
  write_full_capture(profile.path, 40, 8);
  const nlohmann::ordered_json figures = measure_panels(profile.path, 1);
  debugger::Shell shell;
  for (const char* const state : {"folded", "unfolded", "in_sight"}) {
    for (const debugger::Panel* const panel : shell.panels()) {
      EXPECT_GT(figures.at(state).value(std::string(panel->id()), 0.0), 0)
          << panel->id() << ", " << state;
    }
  }
}

TEST(DebuggerPanels, ALongRunIsTimedPerNodeOneReplayInMany) {
  const TemporaryProfile profile;
  write_full_capture(profile.path, 16, kMaxTimed + 1);
  debugger::Document document(profile.path);
  document.settle();
  const auto& rows = document.replays().rows;
  ASSERT_EQ(rows.size(), kMaxTimed + 1);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    ASSERT_EQ(rows[r].timing_mode, r % 2 == 0 ? TimingMode::node : TimingMode::replay) << r;
  }
}

}  // namespace
}  // namespace reprise::bench
