// An op whose lowering reads a variable of the host: what a plan may bake although the graph does
// not show it. It can be planned for Vulkan, not run.
#pragma once
#include "reprise/reprise.h"

namespace reprise::testing {

/// What the next plans get: grids, push constants, kernels and copies depend on it.
void leak(std::int32_t value);
Tensor leaky(Site site, TensorRef x);

}  // namespace reprise::testing
