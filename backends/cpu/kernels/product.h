// A matrix product as the kernels of matmul see it: plain numbers, resolved when it is planned.
#pragma once
#include <cstddef>
#include <cstdint>

namespace reprise::cpu {

/// y[b, n, m] = sum over k of x[b, n, k] * w[b / share, m, k], plus residual[b, n, m]. Row strides
/// and strides of the two leading dimensions count elements of x and y, bytes of w.
struct Product {
  const std::byte* w;
  const float* x;
  float* y;
  const float* residual;  // null: nothing is added; strides are those of y
  std::int64_t n, m, k;
  std::int64_t x_row, w_row, y_row;
  std::int64_t inner;  // extent of the second leading dimension
  std::int64_t inner_share, outer_share;
  std::int64_t x_inner, x_outer, w_inner, w_outer, y_inner, y_outer;
};

/// The matrices of one index of the leading dimensions.
struct Matrices {
  Matrices(const Product& p, std::int64_t index)
      : w(p.w + index / p.inner / p.outer_share * p.w_outer +
          index % p.inner / p.inner_share * p.w_inner),
        x(p.x + index / p.inner * p.x_outer + index % p.inner * p.x_inner),
        y(p.y + index / p.inner * p.y_outer + index % p.inner * p.y_inner),
        residual(p.residual == nullptr ? nullptr : p.residual + (y - p.y)) {}
  const std::byte* w;
  const float* x;
  float* y;
  const float* residual;
};

}  // namespace reprise::cpu
