// The memory of an opened device: its uses and its size.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace reprise {

enum class MemoryPurpose : std::uint8_t {
  tensors,   // made by the user: weights, caches
  arenas,    // transients of sessions and graphs
  state,     // state blocks
  exchange,  // transfers of slots to and from the device
  staging,   // on the way from and to the host
  imported,  // the host's own, used in place: in no heap, under no budget
};
inline constexpr std::size_t kMemoryPurposes = 6;
std::string_view name_of(MemoryPurpose purpose);

struct MemoryUse {
  std::uint64_t bytes = 0;
  std::uint64_t peak = 0;  // maximum since the device was opened
  std::uint64_t buffers = 0;
  bool operator==(const MemoryUse&) const = default;
};

struct HeapInfo {
  std::uint64_t bytes = 0;  // its size
  bool device_local = true;
  bool host_visible = true;
  MemoryUse used{};  // by this opened device
  /// Bytes that the driver lets this process use now, and that it uses; empty where it does not
  /// say.
  std::optional<std::uint64_t> driver_budget{}, driver_used{};
};

/// How full the fullest heap is, or the budget if that is fuller.
enum class MemoryPressure : std::uint8_t {
  none,
  moderate,  // 75 % and more
  high,      // 90 % and more
  critical,  // an allocation does not fit
};
std::string_view name_of(MemoryPressure pressure);

struct MemoryInfo {
  MemoryUse total;
  std::array<MemoryUse, kMemoryPurposes> by_purpose;
  std::vector<HeapInfo> heaps;
  std::uint64_t budget = 0;  // 0: as much as there is
  MemoryPressure pressure = MemoryPressure::none;
  const MemoryUse& of(MemoryPurpose purpose) const {
    return by_purpose[static_cast<std::size_t>(purpose)];
  }
};

/// Called when memory gets scarce. It may free tensors, trim executors and ask devices and pools.
/// It must not record, launch, or reset graphs, because the allocation may be part of just that. At
/// `critical` the allocation is tried once more afterwards. Its own allocations are not reported.
/// Threads: called by the thread that allocates.
using PressureCallback = std::function<void(MemoryPressure, const MemoryInfo&)>;

}  // namespace reprise
