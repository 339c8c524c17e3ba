// One program run under a fault: it opens a device, runs a small graph and cleans up, and what
// happened can be asked.
#pragma once
#include <chrono>
#include <mutex>
#include <string>

#include "reprise/reprise.h"
#include "tests/vulkan/fault_layer/faults.h"

namespace reprise::fault {

/// Warnings and errors of any number of devices.
class Log {
 public:
  LogCallback callback();
  /// What validation said; what else was said is the library's.
  std::string validation() const;

 private:
  mutable std::mutex mutex_;
  std::string validation_;
};

/// A software device with validation if there is one, so results do not depend on the machine.
/// The log must outlive the device.
Device open_logged(Log& log, std::chrono::milliseconds hang_timeout = {}, bool map_memory = true);

/// Uploads weights, records a graph over them with a state block, replays it with and without
/// waiting, runs the same directly, reads everything back and compares: what every user does once.
/// True if all is right.
bool run_hello(const Device& device);

}  // namespace reprise::fault
