#include "reprise/graph/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace reprise {
namespace {
constexpr std::uint64_t kUnplaced = ~std::uint64_t{0};
constexpr std::size_t kMaxConflictsPerTensor = 64;  // average; above it only the first order runs
std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

/// Who is alive together: compressed rows, total size = sum of live counts.
struct Conflicts {
  std::vector<std::uint32_t> row, other;
  std::span<const std::uint32_t> of(std::uint32_t t) const {
    return {other.data() + row[t], row[t + 1] - row[t]};
  }
};

struct Sweep {
  Conflicts conflicts;
  std::uint64_t live_peak = 0;
};

Sweep sweep(std::span<const Lifetime> all, std::span<const std::uint32_t> by_start) {
  Sweep out;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  pairs.reserve(all.size() * 4);
  std::vector<std::uint32_t> active;
  std::uint64_t live = 0;
  for (const std::uint32_t t : by_start) {
    std::size_t kept = 0;
    for (const std::uint32_t a : active) {
      if (all[a].last < all[t].first) {
        live -= aligned(all[a].bytes);
      } else {
        active[kept++] = a;
        pairs.emplace_back(t, a);
      }
    }
    active.resize(kept);
    active.push_back(t);
    live += aligned(all[t].bytes);
    out.live_peak = std::max(out.live_peak, live);
  }
  Conflicts& c = out.conflicts;
  c.row.assign(all.size() + 1, 0);
  for (const auto& [a, b] : pairs) {
    ++c.row[a + 1];
    ++c.row[b + 1];
  }
  std::partial_sum(c.row.begin(), c.row.end(), c.row.begin());
  c.other.resize(pairs.size() * 2);
  std::vector<std::uint32_t> at(c.row.begin(), c.row.end() - 1);
  for (const auto& [a, b] : pairs) {
    c.other[at[a]++] = b;
    c.other[at[b]++] = a;
  }
  return out;
}

/// Lowest gap that fits, in the given order.
std::uint64_t place(std::span<const Lifetime> all, const Conflicts& conflicts,
                    std::span<const std::uint32_t> order, std::vector<std::uint64_t>& offsets) {
  std::ranges::fill(offsets, kUnplaced);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  std::uint64_t arena = 0;
  for (const std::uint32_t t : order) {
    taken.clear();
    for (const std::uint32_t o : conflicts.of(t)) {
      if (offsets[o] != kUnplaced) {
        taken.emplace_back(offsets[o], offsets[o] + aligned(all[o].bytes));
      }
    }
    std::ranges::sort(taken);
    const std::uint64_t need = aligned(all[t].bytes);
    std::uint64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (begin >= at + need) {
        break;
      }
      at = std::max(at, end);
    }
    offsets[t] = at;
    arena = std::max(arena, at + need);
  }
  return arena;
}
}  // namespace

std::uint64_t live_peak(std::span<const Lifetime> all) {
  std::vector<std::pair<std::uint32_t, std::int64_t>> changes;
  for (const Lifetime& l : all) {
    const auto bytes = static_cast<std::int64_t>(aligned(l.bytes));
    changes.emplace_back(l.first, bytes);
    changes.emplace_back(l.last + 1, -bytes);
  }
  std::ranges::sort(changes);  // what ends before a step is gone when that step starts
  std::int64_t live = 0, peak = 0;
  for (const auto& [step, change] : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return static_cast<std::uint64_t>(peak);
}

MemoryPlan plan_memory(std::span<const Lifetime> all) {
  MemoryPlan best;
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto by = [&](auto key) {
    std::ranges::stable_sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return key(all[a]) < key(all[b]); });
  };
  if (!std::ranges::is_sorted(all, {}, &Lifetime::first)) {
    by([](const Lifetime& l) { return l.first; });
  }
  const std::vector<std::uint32_t> by_start = order;
  const Sweep s = sweep(all, by_start);
  best.live_peak_bytes = s.live_peak;
  best.arena_bytes = kUnplaced;
  std::vector<std::uint64_t> offsets(all.size());
  const auto attempt = [&](std::string_view name) {
    const std::uint64_t arena = place(all, s.conflicts, order, offsets);
    if (arena < best.arena_bytes) {
      best.arena_bytes = arena;
      best.offsets = offsets;
      best.order = name;
    }
    return best.arena_bytes == best.live_peak_bytes;
  };
  if (attempt("start") || s.conflicts.other.size() > all.size() * kMaxConflictsPerTensor) {
    return best;
  }
  by([](const Lifetime& l) { return ~l.bytes; });
  if (attempt("size")) {
    return best;
  }
  by([](const Lifetime& l) { return ~(std::uint64_t{l.last} - l.first); });
  if (attempt("duration")) {
    return best;
  }
  by([](const Lifetime& l) { return ~(aligned(l.bytes) * (std::uint64_t{l.last} - l.first + 1)); });
  attempt("area");
  return best;
}

}  // namespace reprise
