#include "framework/profile/step_times.h"

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
  for (const std::uint64_t tick : ticks.subspan(1)) {
    StepTime& step = steps_.emplace_back(StepTime{end_ns, std::nullopt});
    const std::uint64_t ahead = (tick - last) & mask;
    const bool ended = tick != 0 && ahead <= mask / 2;
    if (ended) {
      elapsed += ahead;
      last = tick;
      end_ns =
          static_cast<std::uint64_t>(static_cast<double>(elapsed) * device.timestamp_period_ns);
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
    for (unsigned shift = 0; shift < 32; shift += 8) {
      *to++ = static_cast<std::byte>(number >> shift & 0xFFU);
    }
  };
  const std::uint64_t unit = unit_ns();
  for (const StepTime& step : steps_) {
    const std::uint64_t start = step.start_ns / unit;
    append(start);
    append(step.duration_ns ? (step.start_ns + *step.duration_ns) / unit - start : kNoDuration);
  }
  return blob_;
}

}  // namespace reprise::profile
