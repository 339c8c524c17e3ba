// Operands as kernels see them.
#pragma once
#include <array>

#include "backends/cpu/kernel.h"

namespace reprise::cpu {

/// Strides of the shape padded to four dimensions, in elements.
inline std::array<std::int64_t, Shape::kMaxRank> padded_strides(const HostTensor& tensor) {
  std::array<std::int64_t, Shape::kMaxRank> strides{};
  const std::size_t rank = tensor.shape().rank();
  for (std::size_t i = 0; i < rank; ++i) {
    strides[Shape::kMaxRank - rank + i] = tensor.spec->strides[i];
  }
  return strides;
}

/// Rows of f32 in any order of the leading dimensions.
struct Rows {
  explicit Rows(const HostTensor& tensor)
      : data(reinterpret_cast<float*>(tensor.data)),
        dims(tensor.shape().padded()),
        strides(padded_strides(tensor)),
        even((dims[1] == 1 || strides[1] == dims[2] * strides[2]) &&
             (dims[0] == 1 || strides[0] == dims[1] * dims[2] * strides[2])),
        one(dims[0] * dims[1] * dims[2] == 1) {}
  /// The row of that index among all rows of a shape padded to four dimensions, modulo its own.
  float* row(std::int64_t index, const std::array<std::int64_t, 4>& of) const {
    // Divisions take longer than a short row.
    if (one) {
      return data;
    }
    if (even && of == dims) {
      return data + index * strides[2];
    }
    const std::int64_t i2 = index % of[2] % dims[2];
    const std::int64_t i1 = index / of[2] % of[1] % dims[1];
    const std::int64_t i0 = index / of[2] / of[1] % dims[0];
    return data + i0 * strides[0] + i1 * strides[1] + i2 * strides[2];
  }
  float* data;
  std::array<std::int64_t, 4> dims, strides;
  bool even;  // rows lie equally far apart
  bool one;   // there is one row
};

}  // namespace reprise::cpu
