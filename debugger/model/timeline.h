// The lanes of one replay: its steps, the scopes around them, barriers and the host's part.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "debugger/model/scope_tree.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// Nanoseconds since the replay's first step began. Doubles: a hostile file may say anything.
struct TimelineBar {
  double begin = 0, end = 0;
  std::uint32_t id = 0;
};

struct HostPhase {
  const char* name;
  double begin = 0, end = 0;
};

struct Timeline {
  std::vector<TimelineBar> steps;     // those with times; id: the step
  std::vector<TimelineBar> barriers;  // emitted ones, at the start of their step; id: a barrier
  std::vector<std::vector<TimelineBar>> scopes;  // outermost first; id: an item of the tree
  /// Preparing, submitting and waiting. The clocks of host and device are not the same: the device
  /// is drawn as if it began when submitting ended.
  std::vector<HostPhase> host;
  double begin = 0, end = 1;  // of all of it; end > begin
};

/// `times`: one per step of the capture; others are as none.
Timeline make_timeline(const Capture& capture, const ScopeTree& scopes, const ReplayRow& replay,
                       std::span<const CapturedStepTime> times);

/// A bar in pixels; where many are thinner than a pixel, one for all of them that begin in it.
struct PixelBar {
  float begin = 0, end = 0;
  std::uint32_t longest = 0;  // a position in the bars
  std::uint32_t count = 1;
};

/// Of what a view of `width` pixels shows that begins at `begin`.
std::vector<PixelBar> pixel_bars(std::span<const TimelineBar> bars, double begin,
                                 double ns_per_pixel, float width);

/// The least of 1, 2, 5, 10, ... nanoseconds that is not less than `least`.
double tick_step(double min);
/// A time on an axis with that distance between ticks: "1.25 ms".
std::string tick_text(double ns, double step);

}  // namespace reprise::debugger
