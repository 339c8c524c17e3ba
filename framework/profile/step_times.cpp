#include "framework/profile/step_times.h"

namespace reprise::profile {
namespace {

/// Calls f(step, start_ns, end_ns, timed) for every step in order, while it returns true.
template <class F>
bool for_each_step(std::span<const std::uint64_t> ticks, std::uint64_t mask, double period,
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
    if (!f(s, start_ns, end_ns, started && ended)) {
      return false;
    }
    started = ended;
  }
  return true;
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
  if (!read_short(ticks, mask, device.timestamp_period_ns)) {
    read_long(ticks, mask, device.timestamp_period_ns);
  }
  return true;
}

// All but very long replays are read once, to what the blob holds: divisions by a unit would take
// most of the time.
bool StepTimes::read_short(std::span<const std::uint64_t> ticks, std::uint64_t mask,
                           double period) {
  std::uint32_t* to = words_.data();
  return for_each_step(ticks, mask, period,
                       [&](std::size_t, std::uint64_t start_ns, std::uint64_t end_ns, bool timed) {
                         to[0] = static_cast<std::uint32_t>(start_ns);
                         to[1] =
                             timed ? static_cast<std::uint32_t>(end_ns - start_ns) : kNoDuration;
                         to += 2;
                         end_ns_ = end_ns;
                         return end_ns < kNoDuration;
                       });
}

void StepTimes::read_long(std::span<const std::uint64_t> ticks, std::uint64_t mask, double period) {
  long_steps_.assign(size(), {});
  for_each_step(ticks, mask, period,
                [&](std::size_t s, std::uint64_t start_ns, std::uint64_t end_ns, bool timed) {
                  long_steps_[s].start_ns = start_ns;
                  if (timed) {
                    long_steps_[s].duration_ns = end_ns - start_ns;
                  }
                  end_ns_ = end_ns;
                  return true;
                });
  const std::uint64_t unit = unit_ns();
  for (std::size_t s = 0; s < size(); ++s) {
    const StepTime& step = long_steps_[s];
    const std::uint64_t start = step.start_ns / unit;
    words_[2 * s] = static_cast<std::uint32_t>(start);
    words_[2 * s + 1] =
        step.duration_ns
            ? static_cast<std::uint32_t>((step.start_ns + *step.duration_ns) / unit - start)
            : kNoDuration;
  }
}

}  // namespace reprise::profile
