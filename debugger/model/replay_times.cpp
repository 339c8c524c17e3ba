#include "debugger/model/replay_times.h"

#include "debugger/model/document_reads.h"

namespace reprise::debugger {

ReplayTimes read_replay_times(const std::filesystem::path& path, const Capture& capture,
                              std::span<const std::int64_t> replays, const std::stop_token& stop) {
  ReplayTimes times;
  times.nodes = capture.nodes.size();
  times.asked = replays.size();
  read_step_times(
      path, replays, capture.steps.size(),
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
