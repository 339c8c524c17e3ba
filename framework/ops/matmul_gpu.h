// How matmul runs where the device takes the gpu kernels.
#pragma once
#include "framework/core/lowering.h"
#include "framework/ops/gpu_groups.h"

namespace reprise::ops {

/// Whether rows of both operands begin at multiples of what an invocation reads at once, and have
/// whole ones.
bool wide_products(DType weights, std::int64_t k, const View& x, const View& w);

/// For products of shape `y`, of up to 8 rows per matrix, with weights that fit one binding.
Dispatch gpu_vectors(std::string_view shader, const Shape& y, DType weights, std::int64_t k,
                     bool wide, const DeviceTraits& traits);

/// For a call whose weights fit one binding; `x` and `w` are the views of its operands. The bits of
/// a result depend on k, the dtype of w and whether x has more than 8 rows, on no other extent.
Dispatch gpu_matmul(const BoundCall& call, const View& x, const View& w,
                    const DeviceTraits& traits);

}  // namespace reprise::ops
