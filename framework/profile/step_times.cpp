#include "framework/profile/step_times.h"

#include <bit>
#include <cstring>

namespace reprise::profile {

bool StepTimes::read(std::span<const std::uint64_t> ticks, const DeviceInfo& device) {
  steps_.clear();
  end_ns_ = 0;
  const std::uint32_t bits = device.timestamp_valid_bits;
  if (bits == 0 || ticks.empty() || ticks[0] == 0) {
    return false;
  }
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  std::uint64_t last = ticks[0];
  std::uint64_t elapsed = 0;  // ticks
  std::uint64_t end_ns = 0;
  bool started = true;
  steps_.resize(ticks.size() - 1);
  // Many counters count nanoseconds: no way through floating point then.
  const double period = device.timestamp_period_ns;
  const auto to_ns = [period, whole = period == 1](std::uint64_t count) {
    return whole ? count : static_cast<std::uint64_t>(static_cast<double>(count) * period);
  };
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const std::uint64_t tick = ticks[s + 1];
    StepTime& step = steps_[s];
    step.start_ns = end_ns;
    const std::uint64_t ahead = (tick - last) & mask;
    const bool ended = tick != 0 && ahead <= mask / 2;
    if (ended) {
      elapsed += ahead;
      last = tick;
      end_ns = to_ns(elapsed);
      if (started) {
        step.duration_ns = end_ns - step.start_ns;
      }
    }
    started = ended;
  }
  end_ns_ = end_ns;
  return true;
}

std::span<const std::byte> StepTimes::blob() {
  blob_.resize(steps_.size() * 8);
  std::byte* to = blob_.data();
  const auto append = [&](std::uint64_t number) {
    std::uint32_t word = static_cast<std::uint32_t>(number);
    if constexpr (std::endian::native == std::endian::big) {
      word = __builtin_bswap32(word);
    }
    std::memcpy(to, &word, sizeof word);
    to += sizeof word;
  };
  const auto pack = [&](auto in_units) {
    for (const StepTime& step : steps_) {
      const std::uint64_t start = in_units(step.start_ns);
      append(start);
      append(step.duration_ns ? in_units(step.start_ns + *step.duration_ns) - start : kNoDuration);
    }
  };
  // The unit of all but very long replays is 1, and divisions would take most of the time. A loop
  // of its own: compilers turn `unit == 1 ? ns : ns / unit` back into a division.
  if (const std::uint64_t unit = unit_ns(); unit == 1) {
    pack([](std::uint64_t ns) { return ns; });
  } else {
    pack([unit](std::uint64_t ns) { return ns / unit; });
  }
  return blob_;
}

}  // namespace reprise::profile
