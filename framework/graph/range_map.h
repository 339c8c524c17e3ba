// Disjoint (buffer, begin, end) segments in order, in blocks of at most 64: binary search over
// blocks, memmove inside one. Insertion is O(64) plus a rare block split, clear is O(1), memory is
// kept: no allocation in the steady state.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "reprise/graph/execution_plan.h"

namespace reprise {

struct Segment {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t buffer = 0;
  std::uint32_t step : 31 = 0;
  std::uint32_t written : 1 = 0;
};

class RangeMap {
 public:
  void clear() {
    if (used_ != 0) {
      used_ = 1;
      blocks_[0]->count = 0;
    }
  }

  /// First segment that overlaps `r` and, when `written_only`, was written. Null if none.
  const Segment* find(const Range& r, bool written_only) const {
    for (Cursor c = lower(r); valid(c); next(c)) {
      const Segment& s = at(c);
      if (s.buffer != r.buffer || s.begin >= r.end) {
        return nullptr;
      }
      if (!written_only || s.written != 0) {
        return &s;
      }
    }
    return nullptr;
  }

  /// Fills the parts of `r` that no segment covers yet. A segment keeps its first step, so every
  /// cause stays true.
  void fill(const Range& r, std::uint32_t step, bool written) {
    std::uint64_t from = r.begin;
    while (from < r.end) {
      Cursor c = lower({r.buffer, from, r.end});
      std::uint64_t to = r.end;
      if (valid(c) && at(c).buffer == r.buffer && at(c).begin < r.end) {
        if (at(c).begin <= from) {
          from = at(c).end;
          continue;
        }
        to = at(c).begin;
      }
      Segment s;
      s.begin = from;
      s.end = to;
      s.buffer = r.buffer;
      s.step = step & 0x7FFFFFFFU;
      s.written = written ? 1U : 0U;
      insert(c, s);
      from = to;
    }
  }

 private:
  static constexpr std::uint32_t kBlock = 64;
  struct Block {
    std::uint32_t count = 0;
    std::array<Segment, kBlock> segments;
  };
  struct Cursor {
    std::size_t block;
    std::uint32_t i;
  };

  bool valid(const Cursor& c) const { return c.block < used_ && c.i < blocks_[c.block]->count; }
  const Segment& at(const Cursor& c) const { return blocks_[c.block]->segments[c.i]; }
  void next(Cursor& c) const {
    if (++c.i == blocks_[c.block]->count) {
      c = {c.block + 1, 0};
    }
  }
  static bool before(const Segment& s, const Range& r) {
    return s.buffer < r.buffer || (s.buffer == r.buffer && s.end <= r.begin);
  }

  /// The first segment that ends after r.begin.
  Cursor lower(const Range& r) const {
    const auto first = blocks_.begin();
    const auto last = first + static_cast<std::ptrdiff_t>(used_);
    const auto b = used_ <= 1 ? first : std::partition_point(first, last, [&](const auto& p) {
      return before(p->segments[p->count - 1], r);
    });
    if (b == last) {
      return {used_, 0};
    }
    const auto s = (*b)->segments.begin();
    const auto it =
        std::partition_point(s, s + (*b)->count, [&](const Segment& x) { return before(x, r); });
    Cursor c{static_cast<std::size_t>(b - first), static_cast<std::uint32_t>(it - s)};
    return c.i == (*b)->count ? Cursor{c.block + 1, 0} : c;
  }

  void insert(Cursor c, const Segment& s) {
    if (used_ == 0) {
      add_block(0);
      c = {0, 0};
    } else if (c.block == used_) {
      c = {used_ - 1, blocks_[used_ - 1]->count};
    }
    if (blocks_[c.block]->count == kBlock) {
      add_block(c.block + 1);
      Block& full = *blocks_[c.block];
      Block& half = *blocks_[c.block + 1];
      const std::uint32_t keep =
          c.i == kBlock ? kBlock : kBlock / 2;  // appending keeps blocks full
      std::copy(full.segments.begin() + keep, full.segments.end(), half.segments.begin());
      half.count = kBlock - keep;
      full.count = keep;
      if (c.i > keep || keep == kBlock) {
        c = {c.block + 1, c.i - keep};
      }
    }
    Block& b = *blocks_[c.block];
    std::copy_backward(b.segments.begin() + c.i, b.segments.begin() + b.count,
                       b.segments.begin() + b.count + 1);
    b.segments[c.i] = s;
    ++b.count;
  }

  void add_block(std::size_t position) {
    if (used_ == blocks_.size()) {
      blocks_.push_back(std::make_unique<Block>());
    }
    const auto first = blocks_.begin();
    std::rotate(first + static_cast<std::ptrdiff_t>(position),
                first + static_cast<std::ptrdiff_t>(used_),
                first + static_cast<std::ptrdiff_t>(used_) + 1);
    blocks_[position]->count = 0;
    ++used_;
  }

  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t used_ = 0;
};

}  // namespace reprise
