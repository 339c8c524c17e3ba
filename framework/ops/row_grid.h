// How kernels that read whole rows are spread over a device: the same body runs with one invocation
// per row (shaders/include/row.glsl) or a workgroup per row (row_group.glsl).
#pragma once
#include "reprise/backend/step.h"

namespace reprise::ops {

struct RowGrid {
  bool group = false;       // a workgroup per row
  std::uint32_t local = 0;  // invocations of a workgroup
  Groups groups;
};

/// The grid over the rows of x for a kernel that reads each of them `passes` times. Throws
/// unsupported where a software driver would not finish a row.
RowGrid row_grid(const BoundCall& call, const Shape& x, const DeviceTraits& traits,
                 std::int64_t passes);

}  // namespace reprise::ops
