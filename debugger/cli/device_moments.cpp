#include "debugger/cli/device_moments.h"

#include <algorithm>
#include <cmath>

namespace reprise::cli {
namespace {

constexpr long double kMaxNs = 1LL << 60;

}  // namespace

DeviceMoments::DeviceMoments(std::vector<Comparison> comparisons, double period_ns,
                             std::int64_t valid_bits)
    : comparisons_(std::move(comparisons)), period_ns_(period_ns) {
  if (!(period_ns_ > 0) || !std::isfinite(period_ns_)) {
    comparisons_.clear();
  }
  if (valid_bits > 0 && valid_bits < 64) {
    round_ns_ = std::ldexp(static_cast<long double>(period_ns_), static_cast<int>(valid_bits));
  }
}

long double DeviceMoments::device_ns(const Comparison& at) const {
  return static_cast<long double>(at.device_ticks) * period_ns_;
}

std::optional<std::int64_t> DeviceMoments::host_ns(std::int64_t device_ns,
                                                   std::int64_t near_ns) const {
  if (comparisons_.empty()) {
    return std::nullopt;
  }
  const auto after = std::ranges::upper_bound(comparisons_, near_ns, {}, &Comparison::host_ns);
  const Comparison& from = after == comparisons_.begin() ? *after : *(after - 1);
  /// What the device counted since `from`, of all that its counter may mean the one nearest to what
  /// the host says.
  const auto since = [&](long double device, std::int64_t host) {
    const long double counted = device - this->device_ns(from);
    const long double expected = static_cast<long double>(host) - from.host_ns;
    return round_ns_ > 0 ? counted + std::round((expected - counted) / round_ns_) * round_ns_
                         : counted;
  };
  long double passed = since(static_cast<long double>(device_ns), near_ns);
  if (after != comparisons_.end() && after != comparisons_.begin()) {
    const long double device = since(this->device_ns(*after), after->host_ns);
    const long double host = static_cast<long double>(after->host_ns) - from.host_ns;
    // Both clocks count nanoseconds: what differs by a half is no pair of clocks.
    if (device > host / 2 && device < host * 2) {
      passed *= host / device;
    }
  }
  return static_cast<std::int64_t>(
      std::clamp(static_cast<long double>(from.host_ns) + passed, -kMaxNs, kMaxNs));
}

}  // namespace reprise::cli
