// MemoryAccount: counts the memory of the buffers of an opened device, and tells its user when
// memory gets scarce.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/core/memory_info.h"

namespace reprise {

class MemoryAccount;

/// A share of memory, counted until it is destroyed.
class MemoryShare {
 public:
  MemoryShare() = default;
  MemoryShare(MemoryShare&& other) noexcept { *this = std::move(other); }
  MemoryShare& operator=(MemoryShare&& other) noexcept;
  /// Takes `bytes` that the account reserved; called by accounts.
  MemoryShare(std::shared_ptr<MemoryAccount> account, MemoryPurpose purpose, std::uint32_t heap,
              std::uint64_t bytes)
      : account_(std::move(account)), purpose_(purpose), heap_(heap), bytes_(bytes) {}
  ~MemoryShare() { give_back(); }
  void give_back() noexcept;

 private:
  std::shared_ptr<MemoryAccount> account_;
  MemoryPurpose purpose_ = MemoryPurpose::tensors;
  std::uint32_t heap_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Counts the buffers of a backend. Backends ask it before they ask the driver, because drivers of
/// shared-memory devices overcommit instead of failing.
/// Threads: all members may be called concurrently.
class MemoryAccount : public std::enable_shared_from_this<MemoryAccount> {
 public:
  static constexpr std::uint32_t kNoHeap = 0xFFFFFFFF;

  /// At most `max_buffers` of all purposes are there at once.
  MemoryAccount(std::vector<HeapInfo> heaps, std::uint64_t budget, PressureCallback on_pressure,
                std::uint64_t max_buffers = ~std::uint64_t{0});
  /// Reserves memory.
  /// Errors: out_of_memory with the wanted and the available bytes, naming the buffer.
  MemoryShare reserve(std::string_view buffer, MemoryPurpose purpose, std::uint32_t heap,
                      std::uint64_t bytes);
  /// Gives a share back; called by shares.
  void release(MemoryPurpose purpose, std::uint32_t heap, std::uint64_t bytes) noexcept;
  /// Sets the budget. Below the present use, nothing can be allocated until enough is given back.
  void set_budget(std::uint64_t bytes);
  /// Returns the counts, without the information of the driver.
  MemoryInfo info() const;

 private:
  /// Returns how much is left, and of what; empty: it is reserved.
  std::pair<std::uint64_t, std::string> try_reserve(MemoryPurpose purpose, std::uint32_t heap,
                                                    std::uint64_t bytes);
  MemoryPressure pressure() const;
  void report(MemoryPressure now);

  const PressureCallback on_pressure_;
  const std::uint64_t max_buffers_;
  mutable std::mutex mutex_;
  MemoryInfo info_;
  MemoryPressure reported_ = MemoryPressure::none;
};

}  // namespace reprise
