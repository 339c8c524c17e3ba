#include "framework/profile/step_times.h"

namespace reprise::profile {
namespace {

/// Calls f(step, start_ns, end_ns, timed) for every step in order. Returns the end of the last.
template <class F>
std::uint64_t for_each_step(std::span<const std::uint64_t> ticks, std::uint64_t mask, double period,
                            const F& f) {
  // Many counters count nanoseconds: no way through floating point then.
  const bool whole = period == 1;
  std::uint64_t last = ticks[0];
  std::uint64_t elapsed = 0;  // ticks
  std::uint64_t end_ns = 0;
  bool started = true;
  for (std::size_t s = 0; s + 1 < ticks.size(); ++s) {
    const std::uint64_t tick = ticks[s + 1];
    const std::uint64_t start_ns = end_ns;
    const std::uint64_t ahead = (tick - last) & mask;
    const bool ended = tick != 0 && ahead <= mask / 2;
    if (ended) {
      elapsed += ahead;
      last = tick;
      end_ns = whole ? elapsed : static_cast<std::uint64_t>(static_cast<double>(elapsed) * period);
    }
    f(s, start_ns, end_ns, started && ended);
    started = ended;
  }
  return end_ns;
}

}  // namespace

bool StepTimes::read(std::span<const std::uint64_t> ticks, const DeviceInfo& device) {
  words_.clear();
  end_ns_ = 0;
  const std::uint32_t bits = device.timestamp_valid_bits;
  if (bits == 0 || ticks.empty() || ticks[0] == 0) {
    return false;
  }
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  words_.resize(2 * (ticks.size() - 1));
  read_short(ticks, mask, device.timestamp_period_ns);
  if (unit_ns() > 1) {
    read_long(ticks, mask, device.timestamp_period_ns);
  }
  return true;
}

// All but very long replays are read once, to what the blob holds: divisions by a unit would take
// most of the time.
void StepTimes::read_short(std::span<const std::uint64_t> ticks, std::uint64_t mask,
                           double period) {
  std::uint32_t* to = words_.data();
  end_ns_ =
      for_each_step(ticks, mask, period,
                    [&](std::size_t, std::uint64_t start_ns, std::uint64_t end_ns, bool timed) {
                      to[0] = static_cast<std::uint32_t>(start_ns);
                      to[1] = timed ? static_cast<std::uint32_t>(end_ns - start_ns) : kNoDuration;
                      to += 2;
                    });
}

void StepTimes::read_long(std::span<const std::uint64_t> ticks, std::uint64_t mask, double period) {
  long_steps_.assign(size(), {});
  const std::uint64_t unit = unit_ns();
  for_each_step(
      ticks, mask, period,
      [&](std::size_t s, std::uint64_t start_ns, std::uint64_t end_ns, bool timed) {
        const std::uint64_t start = start_ns / unit;
        words_[2 * s] = static_cast<std::uint32_t>(start);
        words_[2 * s + 1] = timed ? static_cast<std::uint32_t>(end_ns / unit - start) : kNoDuration;
        long_steps_[s] = {start_ns, timed ? std::optional(end_ns - start_ns) : std::nullopt};
      });
}

}  // namespace reprise::profile
