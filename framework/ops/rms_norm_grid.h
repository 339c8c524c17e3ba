// The grid of rms_norm and of what ends in it: the same for both, so that sums are added in the
// same order.
#pragma once
#include "framework/ops/row_grid.h"

namespace reprise::ops {

inline constexpr RowGrid kRmsNormGrid{.passes = 2, .groups_on_lanes = false};

}  // namespace reprise::ops
