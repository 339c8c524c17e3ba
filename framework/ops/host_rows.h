// Rows of host tensors as float64, for references whose time matters: the dtype is looked at once
// per row. Not for rows whose last stride is not 1.
#pragma once
#include <cstring>
#include <span>

#include "reprise/core/float16.h"
#include "reprise/core/op.h"

namespace reprise::ops {

/// Fills `out` with the elements from index `element` on.
inline void load_row(const HostTensor& tensor, std::int64_t element, std::span<double> out) {
  const auto first = static_cast<std::size_t>(element);
  if (tensor.dtype() == DType::f32) {
    const std::byte* from = tensor.data + first * sizeof(float);
    for (std::size_t i = 0; i < out.size(); ++i) {
      float value;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      out[i] = static_cast<double>(value);
    }
  } else if (tensor.dtype() == DType::f16) {
    const std::byte* from = tensor.data + first * sizeof(std::uint16_t);
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::uint16_t value;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      out[i] = static_cast<double>(f16_to_f32(value));
    }
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = tensor.load(element + static_cast<std::int64_t>(i));
    }
  }
}

/// Four running sums, so that the additions overlap.
inline double dot(std::span<const double> a, std::span<const double> b) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) {
      sums[j] += a[i + j] * b[i + j];
    }
  }
  for (; i < a.size(); ++i) {
    sums[0] += a[i] * b[i];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace reprise::ops
