// Ticks of a device as nanoseconds, and how its clock relates to the host's.
#pragma once
#include "framework/profile/profile_sink.h"
#include "reprise/backend/backend.h"

namespace reprise {

class DeviceClock {
 public:
  explicit DeviceClock(const DeviceInfo& info);
  std::int64_t moment_ns(std::uint64_t ticks) const;
  /// The counter may have wrapped in between, once.
  std::uint64_t between_ns(std::uint64_t from, std::uint64_t to) const;

 private:
  std::uint64_t mask_;
  double period_ns_;
};

/// Both clocks at one moment: read together where the driver can, else with a submission of one
/// timestamp. Empty if the device cannot time itself.
std::optional<ClockRecord> compare_clocks(Backend& backend);

/// What one timestamp adds to the interval it ends: the median distance of timestamps with nothing
/// between them. 0 if the device cannot time itself.
std::uint64_t measure_timestamp_bias(Backend& backend);

}  // namespace reprise
