#include "reprise/core/shape.h"

#include <algorithm>

namespace reprise {
namespace {

std::string list(std::span<const std::int64_t> dims, bool fixed = true) {
  std::string text = fixed ? "[" : "[up to ";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  }
  return text + "]";
}

}  // namespace

Shape::Shape(std::span<const Extent> dims, SourceLocation where) {
  std::array<std::int64_t, kMaxRank + 1> max{};  // one more than allowed, for the message
  std::size_t rank = 0;
  for (const Extent& extent : dims) {
    if (!extent.fixed() && rank > 0) {
      throw Error(ErrorCode::invalid_argument,
                  joined_text("Only the first dimension of a shape may have an extent of the "
                              "state, but dimension (",
                              rank, ") has one, of up to ", extent.max, "."),
                  where);
    }
    if (rank < max.size()) {
      max[rank++] = extent.max;
    }
  }
  *this = Shape(std::span<const std::int64_t>(max).first(rank), where);
  extent_word_ = dims.front().word;
}

Shape::Shape(std::span<const std::int64_t> dims, SourceLocation where) {
  if (dims.empty() || dims.size() > kMaxRank) {
    throw Error(
        ErrorCode::invalid_argument,
        joined_text("A shape has rank 1 to 4, but ", list(dims), " has rank (", dims.size(), ")."),
        where);
  }
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || elements > kMaxElements / std::max<std::int64_t>(dim, 1)) {
      throw Error(
          ErrorCode::invalid_argument,
          "A shape has extents of at least 0 and at most 2^56 elements, but is " + list(dims) + ".",
          where);
    }
    elements *= std::max<std::int64_t>(dim, 1);
  }
  std::ranges::copy(dims, dims_.begin());
  rank_ = static_cast<std::uint8_t>(dims.size());
}

void require_rank(const Shape& shape) {
  if (shape.rank() == 0) {
    throw_invalid_argument(
        "A tensor has rank 1 to 4, but its shape [] has rank (0); a scalar is [1].");
  }
}

Shape Shape::with_back(std::int64_t extent) const {
  std::array<std::int64_t, kMaxRank> dims = dims_;
  dims[rank_ - 1U] = extent;
  const Shape shape(std::span<const std::int64_t>(dims).first(rank_));
  return rank_ > 1 ? shape.with_extent(extent_word_) : shape;
}

Shape Shape::with_extent(std::uint32_t word) const {
  Shape shape = *this;
  shape.extent_word_ = word;
  return shape;
}

Shape Shape::with_front(std::int64_t rows) const {
  Shape shape = *this;
  shape.dims_[0] = rows;
  shape.extent_word_ = Extent::kFixed;
  return shape;
}

std::string to_string(const Shape& shape) {
  std::array<std::int64_t, Shape::kMaxRank> dims{};
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    dims[i] = shape.dim(i);
  }
  return list(std::span(dims).first(shape.rank()), shape.fixed());
}

}  // namespace reprise
