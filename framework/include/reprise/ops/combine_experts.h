#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Adds up the weighted results of the experts of a row: z[r, :] = sum over j of weights[r, j] *
/// y[r, j, :]. Adds in the order of j, each product by a fused multiply-add in f32 where the device
/// has one; f64 in the reference.
/// Shapes: y: [rows, used, m] f32, may be strided; weights: [rows, used] f32; z: [rows, m] f32.
/// Errors: invalid_argument if ranks or shapes differ from these.
[[nodiscard]] Tensor combine_experts(Site site, TensorRef y, TensorRef weights);

}  // namespace reprise
