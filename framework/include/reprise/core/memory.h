// The memory of an opened device: what it is used for, how much there is, and how its user learns
// that it gets scarce.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

enum class MemoryPurpose : std::uint8_t {
  tensors,   // made by the user: weights, caches
  arenas,    // transients of sessions and graphs
  state,     // state blocks
  exchange,  // what slots send and bring back
  staging,   // on the way from and to the host
  imported,  // the host's own, used in place: in no heap, under no budget
};
inline constexpr std::size_t kMemoryPurposes = 6;
std::string_view name_of(MemoryPurpose purpose);

struct MemoryUse {
  std::uint64_t bytes = 0;
  std::uint64_t peak = 0;  // the most it was since the device was opened
  std::uint64_t buffers = 0;
  bool operator==(const MemoryUse&) const = default;
};

struct HeapInfo {
  std::uint64_t bytes = 0;  // its size
  bool device_local = true;
  bool host_visible = true;
  MemoryUse used{};  // by this opened device
  /// What the driver lets this process use now, and what it uses; empty where it does not say.
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

/// Called by the thread that allocates. It may free tensors, trim executors and ask devices and
/// pools; it must not record, launch, or reset graphs, because the allocation may be part of just
/// that. At `critical` the allocation is tried once more afterwards. What it allocates itself is
/// not reported.
using PressureCallback = std::function<void(MemoryPressure, const MemoryInfo&)>;

class MemoryAccount;

/// Memory that is counted until this goes.
class MemoryShare {
 public:
  MemoryShare() = default;
  MemoryShare(MemoryShare&& other) noexcept { *this = std::move(other); }
  MemoryShare& operator=(MemoryShare&& other) noexcept;
  ~MemoryShare() { give_back(); }
  void give_back() noexcept;

 private:
  friend class MemoryAccount;
  std::shared_ptr<MemoryAccount> account_;
  MemoryPurpose purpose_ = MemoryPurpose::tensors;
  std::uint32_t heap_ = 0;
  std::uint64_t bytes_ = 0;
};

/// For backends: what their buffers take. They ask it before they ask the driver, because drivers
/// of shared-memory devices overcommit instead of failing. All members may be called concurrently.
class MemoryAccount : public std::enable_shared_from_this<MemoryAccount> {
 public:
  static constexpr std::uint32_t kNoHeap = 0xFFFFFFFF;

  MemoryAccount(std::vector<HeapInfo> heaps, std::uint64_t budget, PressureCallback on_pressure);
  /// Throws out_of_memory with what is wanted and what is left, by name.
  MemoryShare reserve(std::string_view buffer, MemoryPurpose purpose, std::uint32_t heap,
                      std::uint64_t bytes);
  /// Below what is used already, nothing can be allocated until enough is given back.
  void set_budget(std::uint64_t bytes);
  /// Without what the driver says.
  MemoryInfo info() const;

 private:
  friend class MemoryShare;
  struct Shortage {
    std::uint64_t available = 0;
    const char* of = nullptr;  // null: none
  };
  Shortage try_reserve(MemoryPurpose purpose, std::uint32_t heap, std::uint64_t bytes);
  void release(MemoryPurpose purpose, std::uint32_t heap, std::uint64_t bytes) noexcept;
  MemoryPressure pressure() const;
  void report(MemoryPressure now);

  const PressureCallback on_pressure_;
  mutable std::mutex mutex_;
  MemoryInfo info_;
  MemoryPressure reported_ = MemoryPressure::none;
};

}  // namespace reprise
