// How kernels that read whole rows are spread over a device: the same body runs with one invocation
// per row (shaders/include/row.glsl) or a workgroup per row (row_group.glsl).
#pragma once
#include "framework/ops/gpu_groups.h"

namespace reprise::ops {

struct RowGrid {
  std::int64_t passes;                  // times that a kernel reads each row
  bool groups_on_lanes = true;          // a workgroup per long row there too
  std::uint32_t max_invocations = 512;  // of a workgroup
  std::size_t shader = 0;  // of the op, with an invocation per row; the next one has a workgroup
};

/// The kernel of op `call.op` over the rows of x. Throws unsupported where a software driver would
/// not finish a row.
Dispatch row_dispatch(const BoundCall& call, const Shape& x, const DeviceTraits& traits,
                      const RowGrid& grid);

/// Dispatches it.
template <class Push>
void dispatch_rows(const BoundCall& call, const DeviceTraits& traits, StepList& steps,
                   const Shape& x, const RowGrid& grid, const Push& push) {
  const Dispatch chosen = row_dispatch(call, x, traits, grid);
  steps.dispatch(call, traits, chosen.kernel, chosen.groups, push);
}

}  // namespace reprise::ops
