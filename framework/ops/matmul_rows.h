// How products run everywhere: the portable kernel, of one product or of several side by side.
#pragma once
#include "framework/ops/gpu_groups.h"

namespace reprise::ops {

/// For products of shape `y`, with weights that fit one binding. Throws unsupported if the device
/// might not finish its loops.
Dispatch rows_dispatch(const BoundCall& call, const Shape& y, DType weights,
                       const DeviceTraits& traits);

}  // namespace reprise::ops
