// Options for opening a device, the same for every backend. A backend ignores options it does not
// support.
#pragma once
#include <chrono>
#include <filesystem>
#include <optional>

#include "reprise/core/kernel_choice.h"
#include "reprise/core/log.h"
#include "reprise/core/memory_info.h"

namespace reprise {

/// For tests: limits below the driver's; 0: the driver's.
struct LoweredLimits {
  std::uint64_t binding_bytes = 0;
  std::uint64_t state_bytes = 0;
  std::uint32_t storage_buffers = 0;
  std::uint32_t shared_bytes = 0;
  bool no_subgroup_arithmetic = false;
  bool no_timestamps = false;
  auto operator<=>(const LoweredLimits&) const = default;
};

struct OpenOptions {
  /// Runs under the driver's validation, messages go to `log`. Slow.
  /// Errors: unsupported if not installed.
  bool validation = false;
  LogCallback log{};
  /// Maximum time to wait without any progress; after it a wait is an error. 0: 60 s, 10 min on
  /// CPU-type devices. More than a year counts as a year.
  std::chrono::milliseconds hang_timeout{0};
  /// False: the host reaches device memory through copies alone, as on a discrete GPU.
  bool map_device_memory = true;
  /// A file that keeps compiled pipelines between runs of a device, or a folder, ending in '/',
  /// with a file per device and driver. Created if absent; read when the device opens, written when
  /// it closes. A damaged, foreign or read-only file is no error: `log` gets a message. Empty: in
  /// memory only.
  std::filesystem::path pipeline_cache{};
  /// CPU: threads that share large steps, the waiting one included. 0: one per core that the
  /// process may run on. Results do not depend on it.
  unsigned threads = 0;
  /// CPU: every op runs its float64 reference, the oracle of the tests; slow.
  bool references_only = false;
  /// Vulkan: the kernels to use. Not set: those that are made for the device.
  /// Errors: unsupported if the device cannot run them.
  std::optional<KernelFamily> kernels = std::nullopt;
  /// For tests: false makes a device whose encodings run once, so that every launch encodes again.
  bool replays = true;
  LoweredLimits limits{};
  /// Maximum of memory that all buffers of the device may take. 0: as much as its heaps have.
  /// Errors: out_of_memory from allocations beyond it.
  std::uint64_t memory_budget = 0;
  PressureCallback on_memory_pressure{};
};

}  // namespace reprise
