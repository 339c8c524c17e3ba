#include "framework/ops/row_grid.h"

#include "framework/core/lowering.h"
#include "framework/ops/gpu_groups.h"

namespace reprise::ops {

RowGrid row_grid(const BoundCall& call, const Shape& x, const DeviceTraits& traits,
                 std::int64_t passes) {
  constexpr std::int64_t kElementsPerInvocation = 4;
  constexpr std::uint32_t kMaxInvocations = 512;
  // On lanes, fewer columns are not worth the barriers.
  constexpr std::int64_t kLongOnLanes = 256;
  constexpr std::int64_t kUnrolled = 8;  // columns per turn, mirrors EACH_COLUMN
  const std::int64_t columns = x.back();
  if (traits.kernels == KernelFamily::gpu ||
      (traits.kernels == KernelFamily::lanes && columns >= kLongOnLanes)) {
    return {true, group_size(columns / kElementsPerInvocation, kMaxInvocations, traits),
            grid_of(x, x.rows())};
  }
  require_loop_limit(call, traits, passes * ((columns + kUnrolled - 1) / kUnrolled), columns);
  return {false, traits.workgroup_size,
          groups_for({x, static_cast<std::uint64_t>(x.rows())}, traits.workgroup_size)};
}

}  // namespace reprise::ops
