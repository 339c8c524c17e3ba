#include "framework/graph/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace reprise {
namespace {
constexpr std::uint64_t kUnplaced = ~std::uint64_t{0};
constexpr std::size_t kMaxConflictsPerTensor = 64;  // average; above it only the first order runs

/// Those of one time in the order that they have. Times are those of a plan's steps, so few.
std::vector<std::uint32_t> order_by(std::span<const Lifetime> all, std::uint32_t Lifetime::*when) {
  std::vector<std::uint32_t> begin(2);  // of each time in the order
  for (const Lifetime& lifetime : all) {
    begin.resize(std::max<std::size_t>(begin.size(), lifetime.*when + std::size_t{2}));
    ++begin[lifetime.*when + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> order(all.size());
  for (std::uint32_t t = 0; t < all.size(); ++t) {
    order[begin[all[t].*when]++] = t;
  }
  return order;
}

/// Visits lifetimes in order of start: gone(t) for those that ended before, then come(t).
template <class Gone, class Come>
void for_each_start(std::span<const Lifetime> all, std::span<const std::uint32_t> by_start,
                    Gone&& gone, Come&& come) {
  const std::vector<std::uint32_t> by_end = order_by(all, &Lifetime::last);
  auto end = by_end.begin();
  for (const std::uint32_t t : by_start) {
    for (; all[*end].last < all[t].first; ++end) {  // stops at t, if not before
      gone(*end);
    }
    come(t);
  }
}

/// Who is alive together: compressed rows, total size = sum of live counts.
struct Conflicts {
  std::vector<std::uint32_t> row, other;
  std::span<const std::uint32_t> of(std::uint32_t t) const {
    return {other.data() + row[t], row[t + 1] - row[t]};
  }
};

Conflicts conflicts_of(std::span<const Lifetime> all, std::span<const std::uint32_t> by_start) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  pairs.reserve(all.size() * 4);
  std::vector<std::uint32_t> active;
  for (const std::uint32_t t : by_start) {
    std::size_t kept = 0;
    for (const std::uint32_t a : active) {
      if (all[a].last >= all[t].first) {
        active[kept++] = a;
        pairs.emplace_back(t, a);
      }
    }
    active.resize(kept);
    active.push_back(t);
  }
  Conflicts c;
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
  return c;
}

/// What is free at one time, from the lowest on. Behind the last range in use everything is.
class Gaps {
 public:
  /// The lowest one that fits.
  std::uint64_t take(std::uint64_t bytes) {
    const auto gap =
        std::ranges::find_if(gaps_, [&](const Gap& g) { return g.end - g.begin >= bytes; });
    const std::uint64_t begin = gap->begin;
    gap->begin += bytes;
    if (gap->begin == gap->end) {
      gaps_.erase(gap);
    }
    return begin;
  }
  void give(std::uint64_t begin, std::uint64_t bytes) {
    const std::uint64_t end = begin + bytes;
    const auto next = std::ranges::upper_bound(gaps_, begin, {}, &Gap::begin);
    if (next != gaps_.begin() && std::prev(next)->end == begin) {
      std::prev(next)->end = next->begin == end ? next->end : end;
      if (next->begin == end) {
        gaps_.erase(next);
      }
    } else if (next->begin == end) {
      next->begin = begin;
    } else {
      gaps_.insert(next, {begin, end});
    }
  }

 private:
  struct Gap {
    std::uint64_t begin, end;
  };
  std::vector<Gap> gaps_{{0, kUnplaced}};
};

struct ByStart {
  MemoryPlan plan;
  std::uint64_t conflicts = 0;  // of all with each other
};

/// Lowest gap that fits, in order of start: who is alive then is known without conflicts.
ByStart place_by_start(std::span<const Lifetime> all, std::span<const std::uint32_t> by_start) {
  ByStart out;
  out.plan.offsets.resize(all.size());
  Gaps gaps;
  std::uint64_t alive = 0, live = 0;  // lifetimes, bytes
  for_each_start(
      all, by_start,
      [&](std::uint32_t gone) {
        const std::uint64_t bytes = arena_aligned(all[gone].bytes);
        if (bytes > 0) {
          gaps.give(out.plan.offsets[gone], bytes);
        }
        --alive;
        live -= bytes;
      },
      [&](std::uint32_t t) {
        const std::uint64_t need = arena_aligned(all[t].bytes);
        if (need > 0) {
          out.plan.offsets[t] = gaps.take(need);
        }
        out.conflicts += 2 * alive++;
        live += need;
        out.plan.arena_bytes = std::max(out.plan.arena_bytes, out.plan.offsets[t] + need);
        out.plan.live_peak_bytes = std::max(out.plan.live_peak_bytes, live);
      });
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
        taken.emplace_back(offsets[o], offsets[o] + arena_aligned(all[o].bytes));
      }
    }
    std::ranges::sort(taken);
    const std::uint64_t need = arena_aligned(all[t].bytes);
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
  std::uint64_t live = 0, peak = 0;
  for_each_start(
      all, order_by(all, &Lifetime::first),
      [&](std::uint32_t gone) { live -= arena_aligned(all[gone].bytes); },
      [&](std::uint32_t t) {
        live += arena_aligned(all[t].bytes);
        peak = std::max(peak, live);
      });
  return peak;
}

MemoryPlan plan_memory(std::span<const Lifetime> all) {
  const std::vector<std::uint32_t> by_start = order_by(all, &Lifetime::first);
  const ByStart first = place_by_start(all, by_start);
  MemoryPlan best = first.plan;
  if (best.arena_bytes == best.live_peak_bytes ||
      first.conflicts > all.size() * kMaxConflictsPerTensor) {
    return best;
  }
  const Conflicts conflicts = conflicts_of(all, by_start);
  std::vector<std::uint32_t> order = by_start;
  std::vector<std::uint64_t> offsets(all.size());
  const auto reaches_peak = [&](auto key) {
    std::ranges::stable_sort(order, {}, [&](std::uint32_t t) { return key(all[t]); });
    const std::uint64_t arena = place(all, conflicts, order, offsets);
    if (arena < best.arena_bytes) {
      best.arena_bytes = arena;
      best.offsets = offsets;
    }
    return best.arena_bytes == best.live_peak_bytes;
  };
  const auto steps = [](const Lifetime& l) { return std::uint64_t{l.last} - l.first; };
  // The first one that reaches it is the last one tried.
  (void)(reaches_peak([](const Lifetime& l) { return ~l.bytes; }) ||
         reaches_peak([&](const Lifetime& l) { return ~steps(l); }) ||
         reaches_peak(
             [&](const Lifetime& l) { return ~(arena_aligned(l.bytes) * (steps(l) + 1)); }));
  return best;
}

}  // namespace reprise
