// What a user gives: numbers in their ranges, devices with threads.
#pragma once
#include <string>

#include "reprise/open_device.h"

namespace reprise::bench {

/// Throws invalid_argument naming the flag.
inline void require_between(const char* flag, std::int64_t value, std::int64_t least,
                            std::int64_t most) {
  if (value < least || value > most) {
    invalid(std::string(flag) + " is (" + std::to_string(value) + "), but must be " +
            std::to_string(least) + " to " + std::to_string(most) + ".");
  }
}

/// Threads matter to the CPU backend only.
inline Device open_with_threads(const std::string& name, std::int64_t threads) {
  OpenOptions options;
  options.threads = static_cast<unsigned>(threads);
  return open_device(name, options);
}

constexpr std::int64_t kMostTokens = std::int64_t{1} << 24U;
constexpr std::int64_t kMostThreads = 1024;

}  // namespace reprise::bench
