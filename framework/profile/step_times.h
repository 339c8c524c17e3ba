// The times of the steps of one replay, from device ticks to nanoseconds and to the blob of the
// database. Reused from replay to replay, so that nothing is allocated per replay.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/profile/words.h"
#include "reprise/backend/backend.h"

namespace reprise::profile {

struct StepTime {
  std::uint64_t start_ns = 0;  // since the start of the body; rounded down
  std::optional<std::uint64_t> duration_ns;
};

class StepTimes {
 public:
  /// `ticks`: the start of the body, then the end of every step, on a counter of
  /// timestamp_valid_bits that may wrap around. A tick of 0, and one that goes back (half of the
  /// counter's range or more ahead), is none: the steps on both sides of it have no duration.
  /// False, and no steps, if the device has no counter or the start is unknown.
  bool read(std::span<const std::uint64_t> ticks, const DeviceInfo& device);
  std::size_t size() const { return words_.size() / 2; }
  StepTime step(std::size_t index) const {
    if (unit_ns() > 1) {
      return long_steps_[index];
    }
    const std::uint32_t duration = words_[2 * index + 1];
    return {words_[2 * index],
            duration == kNoDuration ? std::nullopt : std::optional<std::uint64_t>(duration)};
  }
  std::uint64_t end_ns() const { return end_ns_; }

  /// Codec 1: {u32le start, u32le duration} per step in units of unit_ns(), the least that lets the
  /// end fit; a duration of kNoDuration is none. Starts and durations are rounded down such that
  /// start + duration of a step is the start of the next.
  static constexpr std::uint32_t kNoDuration = 0xFFFFFFFF;
  std::uint64_t unit_ns() const { return end_ns_ / kNoDuration + 1; }
  /// The same numbers.
  std::span<const std::uint32_t> words() const { return words_; }
  std::span<const std::byte> blob() const { return blob_of(words_); }

 private:
  /// In units of 1: right if the end fits.
  void read_short(std::span<const std::uint64_t> ticks, std::uint64_t mask, double period);
  void read_long(std::span<const std::uint64_t> ticks, std::uint64_t mask, double period);

  std::vector<std::uint32_t> words_;
  std::vector<StepTime> long_steps_;  // where the words have another unit
  std::uint64_t end_ns_ = 0;
};

}  // namespace reprise::profile
