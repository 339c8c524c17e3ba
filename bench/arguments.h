// What a user gives: numbers in their ranges, devices with threads.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "reprise/open_device.h"

namespace reprise::bench {

constexpr std::int64_t kMaxTokens = std::int64_t{1} << 24U;
constexpr std::int64_t kMaxReps = 1'000'000;
constexpr std::int64_t kMaxThreads = 1024;

/// Throws invalid_argument naming the flag.
inline void require_between(const char* flag, std::int64_t value, std::int64_t min,
                            std::int64_t max) {
  if (value < min || value > max) {
    throw_invalid_argument(flag, " is (", value, "), but must be ", min, " to ", max, ".");
  }
}

/// Threads matter to the CPU backend only; 0: one per core that the process may run on.
inline Device open_with_threads(const std::string& name, std::int64_t threads) {
  OpenOptions options;
  options.threads = static_cast<unsigned>(threads);
  return open_device(name, options);
}

/// How many threads the device computes with; 0 for those that use none of the host's.
inline std::uint64_t threads_of(const Device& device) {
  const auto& limits = device.info().limits;
  const auto found = std::ranges::find(limits, "threads", [](const auto& l) { return l.first; });
  return found == limits.end() ? 0 : found->second;
}

}  // namespace reprise::bench
