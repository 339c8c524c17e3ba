// How matmul runs where the device takes the lanes kernels.
#pragma once
#include "framework/core/lowering.h"
#include "framework/ops/gpu_groups.h"

namespace reprise::ops {

/// Whether the lanes kernels can read both operands as texels of 16 bytes: rows of w are made of
/// whole ones, or of blocks, and those of x too. `x` and `w` are their views.
bool lanes_can(const BoundCall& call, const View& x, const View& w);

/// For products of shape `y`, with weights that fit one binding. The bits of a result depend on k,
/// the dtype of w and whether x has more than one row, on no other extent.
Dispatch lanes_matmul(const BoundCall& call, const Shape& y);

}  // namespace reprise::ops
