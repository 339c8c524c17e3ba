// How a device is opened: the same for every backend; what one has no use for, it ignores.
#pragma once
#include <chrono>

#include "reprise/core/backend.h"

namespace reprise {

struct OpenOptions {
  /// Runs under the driver's validation, messages go to `log`. Slow; unsupported if not installed.
  bool validation = false;
  LogCallback log;
  /// A wait without any progress for this long is an error. 0: 60 s, 10 min on CPU-type devices.
  std::chrono::milliseconds hang_timeout{0};
  /// False: the host reaches device memory through copies alone, as on a discrete GPU.
  bool map_device_memory = true;
};

}  // namespace reprise
