// Launches of a recording whose tensors are watched.
#include "framework/session/recording.h"

namespace reprise {

void CapturedGraph::Recording::find_watched() {
  try {
    watched_.set(*core_->watches(), *plan_, core_->device());
    if (const std::size_t left_out = watched_.left_out()) {
      core_->warn("watch", "watch_too_large",
                  "(" + std::to_string(left_out) + ") watched results of the graph '" +
                      graph().name + "' are left out: all of them would be more than (" +
                      std::to_string(kMaxWatchedBytes) + ") bytes of one launch.",
                  event_id());
    }
  } catch (const std::exception& error) {  // launches go on without
    core_->warn("watch", "watch_failed",
                "The graph '" + graph().name + "' is not watched: " + error.what(), event_id());
  }
}

Body CapturedGraph::Recording::encode_watched(const TapStaging& taps,
                                              std::uint32_t iterations) const {
  Body body = encode_steps(all_steps(), TimingMode::off, memory_.buffers(), nullptr, taps);
  for (std::uint32_t i = 1; i < iterations && !replays(); ++i) {
    body.next.push_back(
        encode_steps(all_steps(), TimingMode::off, memory_.buffers(), nullptr, taps).encoding);
  }
  return body;
}

std::unique_ptr<WatchInFlight> CapturedGraph::Recording::take_watch(std::uint32_t iterations) {
  if (watch_version_ != core_->watch_version()) {
    watch_version_ = core_->watch_version();
    find_watched();
  }
  if (watched_.empty()) {
    return nullptr;
  }
  return watched_.take(sequence_, replays(), plan_,
                       [&](const TapStaging& taps) { return encode_watched(taps, iterations); });
}

void CapturedGraph::Recording::profile_watched(SlotEntry& entry) noexcept {
  const std::unique_ptr<WatchInFlight> watched = std::move(entry.watched);
  if (watched == nullptr) {
    return;
  }
  try {
    TensorsRecord record = watched->read(*entry.slot);
    record.recording = entry.profile_id;
    if (!record.tensors.empty()) {
      core_->profile()->sink().tensors(std::move(record));
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory, and nobody else to tell
  }
}

}  // namespace reprise
