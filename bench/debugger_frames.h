// How long the debugger takes to build a frame, without drawing it.
#pragma once
#include <filesystem>

namespace reprise::bench {

/// Milliseconds, medians, of a 1600x900 window with all panels of its first layout and every scope
/// unfolded.
struct FrameTimes {
  double culled_ms = 0;    // the graph at the zoom it opens with
  double in_sight_ms = 0;  // all boxes of the graph in sight
};

FrameTimes measure_frames(const std::filesystem::path& database);

}  // namespace reprise::bench
