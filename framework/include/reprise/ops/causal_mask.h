#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct CausalMaskAttributes {
  Param<std::int32_t> n_past = 0;  // columns that the first row sees besides its own
};

/// Copies bits, y = x, but sets -infinity where a row would look ahead: in columns above n_past +
/// row, where rows are counted in each matrix of x. A row that n_past puts before the first column
/// sees none.
/// Shapes: x: [.., rows, cols] f32, any strides; y: as x, f32.
/// Source: ggml_diag_mask_inf.
[[nodiscard]] Tensor causal_mask(Site site, TensorRef x, CausalMaskAttributes a = {});

}  // namespace reprise
