// The grid of rms_norm and of what ends in it: the same for both, so that sums are added in the
// same order.
#pragma once
#include "framework/ops/gpu_groups.h"

namespace reprise::ops {

/// The kernel of op `call.op` over rows of that shape. Throws unsupported where a software driver
/// would not finish a row.
Dispatch rms_norm_dispatch(const BoundCall& call, const Shape& x, const DeviceTraits& traits);

}  // namespace reprise::ops
