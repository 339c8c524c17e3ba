// Extents and strides of a tensor: plain values, no allocation.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "reprise/core/error.h"

namespace reprise {

/// The extent of a dimension: a number, or a field of the state block that decides it when a graph
/// runs, up to its bucket. Recorder::extent returns the latter.
struct Extent {
  static constexpr std::uint32_t kFixed = 0xFFFFFFFF;
  template <std::integral T>
  // NOLINTNEXTLINE(google-explicit-constructor)
  Extent(T count) : max(static_cast<std::int64_t>(count)) {}
  Extent(std::int64_t bucket, std::uint32_t field) : max(bucket), word(field) {}
  bool fixed() const { return word == kFixed; }
  std::int64_t max;             // the number, or the bucket
  std::uint32_t word = kFixed;  // word of the state block
};

/// Row-major extents, first dimension slowest, rank 1 to 4. Byte counts and strides of any dtype
/// fit into 64 bits. Only the first dimension may have an extent that is not fixed. Memory, strides
/// and everything that is chosen by a shape follow the bucket of such an extent: dim() and its sums
/// and products are upper bounds then.
/// Errors: invalid_argument from constructors for a different rank, a negative extent, more than
/// 2^56 elements (extents of 0 counted as 1), and an extent that is not fixed in any other
/// dimension.
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 4;
  static constexpr std::int64_t kMaxElements = std::int64_t{1} << 56U;

  Shape() = default;
  Shape(std::initializer_list<Extent> dims,  // NOLINT(google-explicit-constructor)
        SourceLocation where = SourceLocation::here())
      : Shape(std::span(dims.begin(), dims.size()), where) {}
  explicit Shape(std::span<const std::int64_t> dims, SourceLocation where = SourceLocation::here());
  explicit Shape(std::span<const Extent> dims, SourceLocation where = SourceLocation::here());

  std::size_t rank() const { return rank_; }
  std::int64_t dim(std::size_t i) const { return dims_[i]; }
  Extent extent(std::size_t i) const { return {dims_[i], i == 0 ? extent_word_ : Extent::kFixed}; }
  /// Returns the word of the first dimension; Extent::kFixed if it is fixed.
  std::uint32_t extent_word() const { return extent_word_; }
  bool fixed() const { return extent_word_ == Extent::kFixed; }
  /// Returns the same shape, with a first dimension that this word of the state decides;
  /// Extent::kFixed: none.
  Shape with_extent(std::uint32_t word) const;
  /// Returns the same shape, with so many rows in the first dimension, fixed.
  Shape with_front(std::int64_t rows) const;
  std::int64_t back() const { return dims_[rank_ - 1U]; }
  std::int64_t elements() const { return product(rank_); }
  /// Returns elements() / back(): the number of rows when all but the last dimension are flattened.
  std::int64_t rows() const { return rank_ == 0 ? 1 : product(rank_ - 1U); }
  Shape with_back(std::int64_t extent) const;
  /// Returns the extents as four, leading ones added: the form that kernels index by.
  std::array<std::int64_t, kMaxRank> padded() const {
    std::array<std::int64_t, kMaxRank> four{1, 1, 1, 1};
    for (std::size_t i = 0; i < rank_; ++i) {
      four[kMaxRank - rank_ + i] = dims_[i];
    }
    return four;
  }
  bool operator==(const Shape&) const = default;

 private:
  std::int64_t product(std::size_t count) const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < count; ++i) {
      product *= dims_[i];
    }
    return product;
  }
  std::array<std::int64_t, kMaxRank> dims_{};
  std::uint32_t extent_word_ = Extent::kFixed;
  std::uint8_t rank_ = 0;
};

/// Checks that a tensor may have the shape. Tensors have at least one dimension; a scalar is [1].
/// Errors: invalid_argument for a default constructed shape.
void require_rank(const Shape& shape);

/// Returns "[2, 3]", or "[up to 32, 64]" if the first dimension is not fixed.
std::string to_string(const Shape& shape);

/// Distance in elements between neighbours along each dimension, in the order of the shape.
using Strides = std::array<std::int64_t, Shape::kMaxRank>;
inline Strides contiguous_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t step = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = step;
    step *= shape.dim(i);
  }
  return strides;
}

}  // namespace reprise
