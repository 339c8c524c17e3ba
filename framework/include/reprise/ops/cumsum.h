#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Returns running sums: y[c] = x[0] + .. + x[c], per row. NaN stays NaN from its column on. Sums
/// are taken in f32 on a GPU, in f64 on the CPU and in the reference, in an order that the shape
/// decides, the same in every run.
/// Shapes: x: [.., cols] f32, any strides; y: as x, f32.
/// Errors: unsupported where a software driver would not finish a row.
[[nodiscard]] Tensor cumsum(Site site, TensorRef x);

}  // namespace reprise
