#include "framework/ops/row_grid.h"

#include "framework/core/lowering.h"

namespace reprise::ops {

Dispatch row_dispatch(const BoundCall& call, const Shape& x, const DeviceTraits& traits,
                      const RowGrid& grid) {
  // A single row has the device for itself: many invocations with few elements.
  constexpr std::int64_t kElementsPerInvocation = 4;
  // On lanes, fewer columns are not worth the barriers.
  constexpr std::int64_t kLongOnLanes = 256;
  constexpr std::int64_t kUnrolled = 8;  // columns per turn, mirrors EACH_COLUMN
  const std::int64_t columns = x.back();
  if (traits.kernels == KernelFamily::gpu ||
      (traits.kernels == KernelFamily::lanes && grid.groups_on_lanes && columns >= kLongOnLanes)) {
    const std::uint32_t local =
        group_size(columns / kElementsPerInvocation, grid.max_invocations, traits);
    return {{call.op.shaders[grid.shader + 1], {local}, 1}, grid_of(x, x.rows())};
  }
  require_loop_limit(call, traits, grid.passes * ((columns + kUnrolled - 1) / kUnrolled), columns);
  return {{call.op.shaders[grid.shader], {traits.workgroup_size}, 1},
          groups_for({x, static_cast<std::uint64_t>(x.rows())}, traits.workgroup_size)};
}

}  // namespace reprise::ops
