#pragma once
#include "reprise/ops/matmul.h"

namespace reprise {

/// One product for each of the weights; y2 is empty if there were two.
struct ProductGroup {
  Tensor y0, y1, y2;
};

/// Multiplies x with several weights in one step: y0 = matmul(x, w0) and so on, with their bits.
/// Produced by the fusion pass; calling matmul yourself is just as fast.
/// Shapes: x as that of matmul; w0, w1, w2: [m, k] of one dtype, each with an m of its own; w2 may
/// be absent ({}).
/// Errors: those of matmul; invalid_argument if weights have a rank other than 2, no rows, or
/// different dtypes.
[[nodiscard]] ProductGroup matmul_group(Site site, TensorRef x, TensorRef w0, TensorRef w1,
                                        TensorRef w2 = {});

}  // namespace reprise
