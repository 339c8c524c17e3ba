// Offsets in one arena from lifetimes. Several greedy orders over one precomputed conflict list;
// stops at the lower bound.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace reprise {

struct Lifetime {
  std::uint64_t bytes;
  std::uint32_t first, last;
};  // inclusive steps

struct MemoryPlan {
  std::vector<std::uint64_t> offsets;  // one per lifetime
  std::uint64_t arena_bytes = 0;
  std::uint64_t live_peak_bytes = 0;  // no plan can be smaller
};

inline constexpr std::uint64_t kArenaAlignment = 256;
constexpr std::uint64_t arena_aligned(std::uint64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes);
/// The most bytes alive at once, each lifetime rounded up to the alignment.
std::uint64_t live_peak(std::span<const Lifetime> lifetimes);

}  // namespace reprise
