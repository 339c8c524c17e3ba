// What the elements of a tensor are where they follow a rule: each depends on its index alone, so
// they are made in pieces of any size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "reprise/core/dtype.h"

namespace reprise {

/// Writes the elements from `first` on, in row-major order, to whole elements of bytes.
using ElementValues = std::function<void(std::uint64_t first, std::span<std::byte> to)>;

/// The rules of Device. They throw invalid_argument for numbers that the dtype cannot hold and for
/// dtypes other than f32, f16 and i32.
ElementValues constant_values(DType dtype, double value);
/// `elements`: of the tensor, above 0.
ElementValues ramp_values(DType dtype, double start, double step, std::uint64_t elements);
ElementValues uniform_values(DType dtype, std::uint64_t seed, double low, double high);
ElementValues normal_values(DType dtype, std::uint64_t seed, double mean, double stddev);

}  // namespace reprise
