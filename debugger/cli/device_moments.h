// When something happened on a device, on the clock of the host: between two comparisons of the
// clocks in proportion, before the first and after the last as if both went equally fast.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace reprise::cli {

class DeviceMoments {
 public:
  struct Comparison {
    std::int64_t host_ns = 0;
    std::uint64_t device_ticks = 0;
  };

  DeviceMoments() = default;
  /// `comparisons` by host time. A counter of fewer than 64 valid bits wraps around.
  DeviceMoments(std::vector<Comparison> comparisons, double period_ns, std::int64_t valid_bits);

  /// Of a device time as `replays` stores it. `near_ns` is a host time less than half a round of
  /// the counter away. Empty: the clocks were never compared.
  std::optional<std::int64_t> host_ns(std::int64_t device_ns, std::int64_t near_ns) const;

 private:
  long double device_ns(const Comparison& at) const;
  std::vector<Comparison> comparisons_;
  double period_ns_ = 1;
  long double round_ns_ = 0;  // of the counter; 0: it does not wrap around
};

}  // namespace reprise::cli
