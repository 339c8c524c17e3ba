// Properties of a device, as its driver reports them, and requirements of a program.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reprise/core/error.h"
#include "reprise/core/kernel_choice.h"
#include "reprise/core/memory_info.h"

namespace reprise {

/// A device in reports and the profiling database. Numbers a driver does not have are empty.
struct DeviceInfo {
  std::string backend;  // "vulkan", "cpu", or as its factory says
  std::string backend_version;
  std::string name;
  std::string type;  // "discrete", "integrated", "virtual", "cpu"
  std::string driver_name, driver_info, api_version, device_uuid, driver_uuid;
  std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
  double timestamp_period_ns = 1;
  std::uint32_t timestamp_valid_bits = 0;  // 0: the device cannot time itself
  std::vector<std::pair<std::string, std::uint64_t>> limits;
  std::vector<std::pair<std::string, bool>> features;
};

/// Features and limits of a device. A limit that it does not have is the largest number of its
/// type.
/// Units: sizes are bytes.
struct BackendCapabilities {
  bool runs_on_host = false;  // ops run as host functions: no shaders
  bool replays = true;        // encodings are submitted again as they are
  bool imports_host_memory = false;
  bool maps_device_memory = false;         // the host reads and writes tensors in place
  bool reads_beside_work = false;          // to_host waits for the last writer alone
  std::uint32_t timestamp_valid_bits = 0;  // 0: the device cannot time itself
  double timestamp_period_ns = 1;
  bool calibrated_clock = false;  // can read its clock and the host's together

  bool storage_16bit = true, storage_8bit = true;
  bool float16 = true, int8 = true, int16 = true, int64 = true;
  std::uint32_t subgroup_size = 1, min_subgroup_size = 1, max_subgroup_size = 1;
  bool subgroup_arithmetic = false;
  KernelFamily kernels = KernelFamily::portable;

  static constexpr std::uint32_t kNoLimit = 0xFFFFFFFF;
  std::uint32_t max_workgroup_invocations = kNoLimit;
  std::array<std::uint32_t, 3> max_workgroup_size{kNoLimit, kNoLimit, kNoLimit};
  std::array<std::uint32_t, 3> max_grid{kNoLimit, kNoLimit, kNoLimit};
  std::uint32_t shared_bytes = kNoLimit;
  std::uint32_t push_bytes = kNoLimit;
  std::uint32_t storage_buffers = kNoLimit;         // maximum of one kernel
  std::uint64_t binding_bytes = ~std::uint64_t{0};  // of a tensor that a kernel binds
  std::uint64_t state_bytes = ~std::uint64_t{0};    // of a state block
  std::uint64_t buffer_bytes = ~std::uint64_t{0};
  std::uint32_t binding_alignment = 1;     // of offsets in a buffer
  std::uint32_t allocation_alignment = 1;  // of the first byte of a buffer, for device and host
  std::uint64_t import_alignment = 1;      // of host memory
  std::vector<HeapInfo> heaps;
};

/// Requirements of a program for a device. Default: none.
struct DeviceRequirements {
  std::string backend{};           // "vulkan", "cpu", a registered one
  std::string type{};              // "discrete", "integrated", "virtual", "cpu"
  std::string name{};              // a part of it, upper or lower case
  std::uint64_t memory_bytes = 0;  // of the largest heap of the device
  std::uint64_t binding_bytes = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t storage_buffers = 0;
  std::uint32_t workgroup_invocations = 0;
  bool timestamps = false;
  bool replays = false;
  bool imports_host_memory = false;
  bool maps_device_memory = false;
  bool subgroup_arithmetic = false;
  bool float16 = false;
  bool int64 = false;
};

/// Returns a line for everything that is not met, with the actual value; empty: the device will do.
std::vector<std::string> unmet(const DeviceRequirements& wanted, const DeviceInfo& device,
                               const BackendCapabilities& has);

/// How a device runs an op.
enum class SupportKind : std::uint8_t {
  native,   // one kernel of its own
  lowered,  // several steps, or the op's reference instead of a kernel
  unsupported,
};
std::string_view name_of(SupportKind kind);

struct Support {
  SupportKind kind = SupportKind::native;
  std::string reason{};  // how it is lowered, or why it does not run
};

/// Counts of the kernels a device compiles; 0 where ops run as host functions.
struct KernelCounters {
  std::uint64_t created = 0;
  std::uint64_t reused = 0;  // asked for again, by encodings
  std::uint64_t create_ns = 0;
};

enum class DeviceState : std::uint8_t {
  ready,
  shut_down,  // by its owner: submitted work is complete, new work is refused
  lost,       // it failed; open it again
};
std::string_view name_of(DeviceState state);

/// An error as status() reports it.
struct DeviceError {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
  std::uint32_t op = ErrorPlace::kNoOp;  // index of the op, if it is of a recording
  std::string scope;
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
};

}  // namespace reprise
