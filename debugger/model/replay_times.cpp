#include "debugger/model/replay_times.h"

namespace reprise::debugger {

ReplayTimes read_replay_times(const std::filesystem::path& path, const RangeKey& key,
                              const std::stop_token& stop) {
  const Capture& capture = *key.capture;
  ReplayTimes times;
  times.nodes = capture.nodes.size();
  times.asked = key.replays.size();
  read_step_times(
      path, key.replays, capture.steps.size(),
      [&](std::size_t, std::span<const CapturedStepTime> steps) {
        ++times.replays;
        for (const Capture::Node& node : capture.nodes) {
          times.ns.push_back(node_time(capture, node, steps).value_or(ReplayTimes::kNone));
        }
      },
      most_replays(capture), stop);
  return times;
}

}  // namespace reprise::debugger
