#include "reprise/backend/memory_account.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "reprise/core/error.h"

namespace reprise {
namespace {

constexpr double kModerate = 0.75;
constexpr double kHigh = 0.9;

void add(MemoryUse& use, std::uint64_t bytes) {
  use.bytes += bytes;
  use.peak = std::max(use.peak, use.bytes);
  ++use.buffers;
}

void remove(MemoryUse& use, std::uint64_t bytes) {
  use.bytes -= bytes;
  --use.buffers;
}

double share(std::uint64_t used, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(used) / static_cast<double>(of);
}

/// A callback that allocates is not told about that.
thread_local bool reporting = false;

}  // namespace

std::string_view name_of(MemoryPurpose purpose) {
  constexpr std::array<std::string_view, kMemoryPurposes> kNames{"tensors",  "arenas",  "state",
                                                                 "exchange", "staging", "imported"};
  return kNames[static_cast<std::size_t>(purpose)];
}

std::string_view name_of(MemoryPressure pressure) {
  constexpr std::array<std::string_view, 4> kNames{"none", "moderate", "high", "critical"};
  return kNames[static_cast<std::size_t>(pressure)];
}

MemoryShare& MemoryShare::operator=(MemoryShare&& other) noexcept {
  if (this != &other) {
    give_back();
    account_ = std::move(other.account_);
    purpose_ = other.purpose_;
    heap_ = other.heap_;
    bytes_ = other.bytes_;
  }
  return *this;
}

void MemoryShare::give_back() noexcept {
  if (const auto account = std::exchange(account_, nullptr)) {
    account->release(purpose_, heap_, bytes_);
  }
}

MemoryAccount::MemoryAccount(std::vector<HeapInfo> heaps, std::uint64_t budget,
                             PressureCallback on_pressure, std::uint64_t max_buffers)
    : on_pressure_(std::move(on_pressure)), max_buffers_(max_buffers) {
  info_.heaps = std::move(heaps);
  info_.budget = budget;
}

std::pair<std::uint64_t, std::string> MemoryAccount::try_reserve(MemoryPurpose purpose,
                                                                 std::uint32_t heap,
                                                                 std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t buffers =
      std::transform_reduce(info_.by_purpose.begin(), info_.by_purpose.end(), std::uint64_t{0},
                            std::plus<>(), [](const MemoryUse& use) { return use.buffers; });
  if (buffers >= max_buffers_) {
    return {0, "(" + std::to_string(buffers) + ") buffers are allocated of at most " +
                   std::to_string(max_buffers_)};
  }
  MemoryUse& of_purpose = info_.by_purpose[static_cast<std::size_t>(purpose)];
  if (heap == kNoHeap) {
    add(of_purpose, bytes);
    return {};
  }
  HeapInfo& from = info_.heaps[heap];
  const std::uint64_t in_heap = from.bytes - from.used.bytes;
  if (info_.budget != 0) {
    const std::uint64_t in_budget = info_.budget - std::min(info_.budget, info_.total.bytes);
    if (bytes > in_budget && in_budget <= in_heap) {
      return {in_budget, "the rest of the budget"};
    }
  }
  if (bytes > in_heap) {
    return {in_heap, "the rest of the device's memory heap"};
  }
  add(info_.total, bytes);
  add(of_purpose, bytes);
  add(from.used, bytes);
  return {};
}

MemoryShare MemoryAccount::reserve(std::string_view buffer, MemoryPurpose purpose,
                                   std::uint32_t heap, std::uint64_t bytes) {
  auto [available, of] = try_reserve(purpose, heap, bytes);
  if (!of.empty() && on_pressure_ && !reporting) {
    report(MemoryPressure::critical);
    std::tie(available, of) = try_reserve(purpose, heap, bytes);
  }
  if (!of.empty()) {
    throw_error(ErrorCode::out_of_memory, "Buffer '", buffer, "' needs (", bytes, ") bytes, but ",
                available, " bytes are available (", of, ").");
  }
  MemoryShare share(shared_from_this(), purpose, heap, bytes);
  report(info().pressure);
  return share;
}

void MemoryAccount::release(MemoryPurpose purpose, std::uint32_t heap,
                            std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  remove(info_.by_purpose[static_cast<std::size_t>(purpose)], bytes);
  if (heap != kNoHeap) {
    remove(info_.total, bytes);
    remove(info_.heaps[heap].used, bytes);
  }
}

MemoryPressure MemoryAccount::pressure() const {
  double fullest = share(info_.total.bytes, info_.budget);
  for (const HeapInfo& heap : info_.heaps) {
    fullest = std::max(fullest, share(heap.used.bytes, heap.bytes));
  }
  return fullest >= kHigh       ? MemoryPressure::high
         : fullest >= kModerate ? MemoryPressure::moderate
                                : MemoryPressure::none;
}

void MemoryAccount::report(MemoryPressure now) {
  if (!on_pressure_ || reporting) {
    return;
  }
  MemoryInfo info;
  {
    const std::lock_guard lock(mutex_);
    const MemoryPressure before = std::exchange(reported_, now);
    if (before == now && now != MemoryPressure::critical) {
      return;
    }
    info = info_;
    info.pressure = now;
  }
  reporting = true;
  try {
    on_pressure_(now, info);
  } catch (...) {
    reporting = false;
    throw;
  }
  reporting = false;
}

void MemoryAccount::set_budget(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  info_.budget = bytes;
}

MemoryInfo MemoryAccount::info() const {
  const std::lock_guard lock(mutex_);
  MemoryInfo info = info_;
  info.pressure = pressure();
  return info;
}

}  // namespace reprise
