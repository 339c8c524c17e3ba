// A box of elements that move from one place to another: what copies, concatenations, paddings and
// repetitions are made of. Planning drops and merges dimensions until runs of neighbours are as
// long as they can be, and cuts what is left into tiles that fit the first-level cache.
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "backends/cpu/kernel.h"

namespace reprise::cpu {

/// An extent, and the bytes from one index to the next on both sides.
struct BoxDim {
  std::int64_t extent, from, to;
};

/// How the elements of a tile lie.
enum class TileForm : std::uint8_t {
  runs,        // the columns of a row are neighbours on both sides; a unit is a byte
  transposed,  // columns are neighbours where they go to, rows where they come from
  strided      // any distances
};

class Box {
 public:
  static constexpr std::size_t kMaxDims = std::size_t{2} * Shape::kMaxRank;  // of repeat
  static constexpr std::int64_t kLineBytes = 64;                             // of the cache

  /// Moves units of `unit_bytes`. `dims` come in the order of the memory that is written.
  Box(const std::byte* from, std::byte* to, std::int64_t unit_bytes, std::span<const BoxDim> dims);

  TileForm form() const { return form_; }
  /// Of a transposed one: whole lines are written past the caches, which they would fill.
  bool streams() const { return streams_; }
  std::int64_t unit_bytes() const { return unit_; }
  const BoxDim& row() const { return row_; }
  const BoxDim& column() const { return column_; }
  std::int64_t tiles() const;
  /// Sets `run` and how much there is to do for it: one item is a tile.
  void plan(void (*run)(const Work&, std::int64_t, std::int64_t), Stage& stage) const;

  /// Calls f(from, to, rows, columns) for the tiles [first, end).
  template <class F>
  void for_each_tile(std::int64_t first, std::int64_t end, F&& f) const {
    if (first >= end) {
      return;
    }
    std::array<std::int64_t, kMaxDims> at{};
    const std::byte* from = from_;
    std::byte* to = to_;
    for (std::int64_t i = kMaxDims, rest = first; i-- > 0;) {
      const auto d = static_cast<std::size_t>(i);
      at[d] = rest % around_[d].extent;
      rest /= around_[d].extent;
      from += at[d] * around_[d].from;
      to += at[d] * around_[d].to;
    }
    for (std::int64_t tile = first; tile < end; ++tile) {
      f(from, to, std::min(tile_rows_, row_.extent - at[kMaxDims - 2] * tile_rows_),
        std::min(tile_columns_, column_.extent - at[kMaxDims - 1] * tile_columns_));
      for (std::size_t d = kMaxDims; d-- > 0;) {
        from += around_[d].from;
        to += around_[d].to;
        if (++at[d] < around_[d].extent) {
          break;
        }
        from -= at[d] * around_[d].from;
        to -= at[d] * around_[d].to;
        at[d] = 0;
      }
    }
  }

 private:
  void cut(std::int64_t rows, std::int64_t columns);

  const std::byte* from_;
  std::byte* to_;
  std::int64_t unit_;
  BoxDim row_{1, 0, 0}, column_{1, 0, 0};
  std::int64_t tile_rows_ = 1, tile_columns_ = 1;
  std::array<BoxDim, kMaxDims> around_;  // a tile; the last two count tiles of rows and columns
  TileForm form_ = TileForm::runs;
  bool streams_ = false;
};

/// A tensor in units that nothing splits: elements, or blocks. Padded to four dimensions, strides
/// in bytes.
struct Units {
  explicit Units(const HostTensor& tensor);
  std::int64_t bytes;  // of a unit
  std::array<std::int64_t, Shape::kMaxRank> dims, strides;
};

/// A box of all of x, to places with the strides of y.
Box box_of(const HostTensor& x, std::byte* to, const Units& y);

}  // namespace reprise::cpu
