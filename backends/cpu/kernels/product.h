// A matrix product as the kernels of matmul see it: plain numbers, resolved when it is planned.
#pragma once
#include "backends/cpu/kernels/operands.h"

namespace reprise::cpu {

/// y[b, n, m] = sum over k of x[b, n, k] * w[b / share, m, k], plus residual[b, n, m], or
/// residual[m] where that is one row. Row strides and strides of the two leading dimensions count
/// elements of x and y, bytes of w.
struct Product {
  const std::byte* w;
  const float* x;
  float* y;
  const float* residual;  // null: nothing is added
  std::int64_t n, m, k;
  std::int64_t x_row, w_row, y_row;
  std::int64_t residual_row;  // 0: one row for all; else that of y, as the other strides are
  std::int64_t outer, inner;  // leading dimensions
  std::int64_t inner_share, outer_share;
  std::int64_t x_inner, x_outer, w_inner, w_outer, y_inner, y_outer;
};

/// Of a call of matmul; its tensors stay where they are.
inline Product product_of(const HostTensor& x, const HostTensor& w, const HostTensor& residual,
                          const HostTensor& y) {
  const auto dims = x.shape().padded();
  const auto w_dims = w.shape().padded();
  const auto xs = padded_strides(x);
  const auto ws = padded_strides(w);
  const auto ys = padded_strides(y);
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::int64_t>(bytes_of(w.dtype(), static_cast<std::uint64_t>(elements)));
  };
  const bool one_row = residual && residual.shape().elements() == w_dims[2];
  return {.w = w.data,
          .x = reinterpret_cast<const float*>(x.data),
          .y = reinterpret_cast<float*>(y.data),
          .residual = reinterpret_cast<const float*>(residual.data),
          .n = dims[2],
          .m = w_dims[2],
          .k = dims[3],
          .x_row = xs[2],
          .w_row = bytes(ws[2]),
          .y_row = ys[2],
          .residual_row = one_row ? 0 : ys[2],
          .outer = dims[0],
          .inner = dims[1],
          .inner_share = dims[1] / w_dims[1],
          .outer_share = dims[0] / w_dims[0],
          .x_inner = xs[1],
          .x_outer = xs[0],
          .w_inner = bytes(ws[1]),
          .w_outer = bytes(ws[0]),
          .y_inner = ys[1],
          .y_outer = ys[0]};
}

/// The matrices of one index of the leading dimensions.
struct Matrices {
  Matrices(const Product& p, std::int64_t index)
      : w(p.w + index / p.inner / p.outer_share * p.w_outer +
          index % p.inner / p.inner_share * p.w_inner),
        x(p.x + index / p.inner * p.x_outer + index % p.inner * p.x_inner),
        y(p.y + index / p.inner * p.y_outer + index % p.inner * p.y_inner),
        residual(p.residual == nullptr || p.residual_row == 0 ? p.residual
                                                              : p.residual + (y - p.y)) {}
  const std::byte* w;
  const float* x;
  float* y;
  const float* residual;
};

}  // namespace reprise::cpu
