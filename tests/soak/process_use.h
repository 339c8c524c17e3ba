// What this process uses of the machine. Linux.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace reprise::soak {

struct Handles {
  std::size_t files = 0, threads = 0;
  bool operator==(const Handles&) const = default;
};
Handles handles();

/// Resident memory as the page tables have it, bytes. Under the address sanitizer what is
/// allocated: its quarantine keeps freed memory resident.
std::uint64_t used_bytes();

struct Sample {
  double replays, bytes;
};
/// The median of the slopes between all pairs (Theil and Sen): bytes per replay. Outliers do not
/// move it.
double slope(std::span<const Sample> samples);

}  // namespace reprise::soak
