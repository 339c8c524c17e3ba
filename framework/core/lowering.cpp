#include "framework/core/lowering.h"

#include <algorithm>

namespace reprise {
namespace {

constexpr std::uint64_t kMaxGroups = 65535;  // the least maxComputeWorkGroupCount a driver may have
constexpr std::uint32_t kHalfWord = 2;       // bytes: all that blocks are aligned to

std::uint64_t ceil_div(std::uint64_t value, std::uint64_t divisor) {
  return value == 0 ? 0 : (value - 1) / divisor + 1;
}

/// Nothing to compute: an empty result, or nothing to write where there is no result.
bool is_empty(const BoundCall& call) {
  const std::size_t operands = call.op.operands.size();
  const auto checked = call.op.results.empty() ? call.tensors : call.tensors.subspan(operands);
  return std::ranges::any_of(checked,
                             [](const BoundTensor& t) { return t && t.shape().elements() == 0; });
}

}  // namespace

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  if (is_empty(call)) {
    return;
  }
  if (traits.runs_on_host) {
    steps.call(call, traits.precision);
  } else {
    call.op.lower(call, traits, steps);
  }
}

Work::Work(const Shape& rows, std::uint64_t units, std::uint32_t tile) : count(units) {
  if (!rows.fixed() && count <= 0xFFFFFFFF) {  // else 32 bits could not count them on the device
    const auto tiles = ceil_div(static_cast<std::uint64_t>(rows.dim(0)), tile);
    live = {tile, static_cast<std::uint32_t>(count / std::max<std::uint64_t>(tiles, 1))};
  }
}

Grid live_grid(const Groups& groups, std::uint32_t rows) {
  const LiveGroups& l = groups.live;
  Grid grid = groups.grid;
  if (l.units == 0) {
    return grid;
  }
  // A table may hold anything.
  const std::uint32_t axis = std::min(l.axis, 2U);
  const std::uint64_t tiles = ceil_div(rows, std::max(l.tile, 1U));
  const std::uint64_t live = ceil_div(tiles * l.units, std::max(l.local, 1U));
  if (axis == 0 && grid[0] == kMaxGroups) {  // folded
    const std::uint64_t inside = std::min(live, kMaxGroups * grid[1]);
    return {static_cast<std::uint32_t>(std::min(inside, kMaxGroups)),
            static_cast<std::uint32_t>(ceil_div(inside, kMaxGroups)), grid[2]};
  }
  grid[axis] = static_cast<std::uint32_t>(std::min<std::uint64_t>(live, grid[axis]));
  return grid;
}

Groups groups_for(const Work& invocations, std::uint32_t local) {
  const std::uint64_t groups = ceil_div(invocations.count, local);
  const std::uint64_t y = ceil_div(groups, kMaxGroups);
  if (y > kMaxGroups) {
    throw_error(ErrorCode::unsupported, "A dispatch of (", groups,
                ") workgroups is above the limit of 65535 x 65535.");
  }
  LiveGroups live = invocations.live;
  live.local = live.units == 0 ? 1 : local;
  return {
      {static_cast<std::uint32_t>(std::min(groups, kMaxGroups)), static_cast<std::uint32_t>(y), 1},
      live};
}

Groups groups_along(const std::array<std::uint64_t, 3>& counts, std::uint32_t axis,
                    const Work& rows) {
  Groups groups(0, 0, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > kMaxGroups) {
      throw_error(ErrorCode::unsupported, "A dispatch of (", counts[i],
                  ") workgroups along one axis is above the limit of 65535.");
    }
    groups.grid[i] = static_cast<std::uint32_t>(counts[i]);
  }
  if (rows.live.units != 0 && groups.grid[axis] < kMaxGroups) {  // as many could be folded ones
    groups.live = rows.live;
    groups.live.axis = axis;
  }
  return groups;
}

View view_of(const BoundTensor& tensor, const DeviceTraits& traits) {
  View view;
  if (!tensor) {
    return view;
  }
  const std::uint64_t rest = tensor.offset & (traits.binding_alignment - 1);
  const DTypeInfo& info = info_of(tensor.dtype());
  view.offset =
      static_cast<std::uint32_t>(rest / (info.block_elements == 1 ? info.block_bytes : kHalfWord));
  const std::size_t missing = Shape::kMaxRank - tensor.shape().rank();
  for (std::size_t i = 0; i < tensor.shape().rank(); ++i) {
    const bool broadcast = tensor.shape().dim(i) == 1;
    view.strides[missing + i] = broadcast ? 0 : static_cast<std::uint32_t>(tensor.spec->strides[i]);
  }
  return view;
}

}  // namespace reprise
