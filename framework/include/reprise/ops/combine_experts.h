#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// The weighted sum of what the experts of a row gave: z[r, :] = sum over j of weights[r, j] *
/// y[r, j, :].
/// y: [rows, used, m] f32, may be strided; weights: [rows, used] f32; z: [rows, m] f32.
/// Adds in the order of j, each product by a fused multiply-add in f32 where the device has one;
/// f64 in the reference. Errors: invalid_argument if ranks or shapes are others than above.
[[nodiscard]] Tensor combine_experts(Site site, TensorRef y, TensorRef weights);

}  // namespace reprise
