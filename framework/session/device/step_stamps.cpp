#include "framework/session/device/step_stamps.h"

#include <algorithm>

namespace reprise {

void StepStamps::take(const Device& device, Encoder& encoder) {
  const std::uint32_t set = taken_ / kSetSize;
  if (set == sets_.size()) {
    Backend& backend = device.backend();
    sets_.push_back({backend.timestamps(kSetSize),
                     backend.allocate("step timestamps", kSetSize * sizeof(std::uint64_t),
                                      BufferKind::download, MemoryPurpose::exchange)});
  }
  if (taken_ % kSetSize == 0) {
    encoder.reset(sets_[set].stamps);
  }
  encoder.stamp(sets_[set].stamps, taken_++ % kSetSize);
}

void StepStamps::resolve(Encoder& encoder) {
  while (resolved_ < taken_) {
    const std::uint32_t first = resolved_ / kSetSize * kSetSize;  // of a set that may be part done
    const std::uint32_t count = std::min(taken_ - first, kSetSize);
    encoder.resolve(sets_[first / kSetSize].stamps, count, sets_[first / kSetSize].host, 0);
    resolved_ = first + count;
  }
}

std::vector<std::uint64_t> StepStamps::ticks() const {
  std::vector<std::uint64_t> ticks;
  ticks.reserve(resolved_);
  for (std::uint32_t first = 0; first < resolved_; first += kSetSize) {
    const auto* of_set =
        reinterpret_cast<const std::uint64_t*>(sets_[first / kSetSize].host->mapped());
    ticks.insert(ticks.end(), of_set, of_set + std::min(resolved_ - first, kSetSize));
  }
  return ticks;
}

}  // namespace reprise
