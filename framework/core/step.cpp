#include "reprise/core/step.h"

#include <algorithm>

namespace reprise {
namespace {

const Operand& operand_of(const OpDef& op, std::size_t i) {
  return i < op.operands.size() ? op.operands[i] : op.results[i - op.operands.size()];
}

Binding bind(const BoundTensor& tensor, Access access, std::uint64_t alignment) {
  const std::uint64_t base = tensor.offset & ~(alignment - 1);
  return {tensor.storage, access, BindingType::storage, base,
          tensor.offset - base + tensor.spec->span_bytes()};
}

void require_bindable(const OpDef& op, const Operand& operand, const Binding& binding,
                      const DeviceTraits& traits) {
  if (binding.bytes > traits.max_binding_bytes) {
    throw Error(ErrorCode::unsupported,
                std::string(op.name) + " binds (" + std::to_string(binding.bytes) + ") bytes as " +
                    std::string(operand.name) + ", but this device binds at most " +
                    std::to_string(traits.max_binding_bytes) + " bytes (its storage range).");
  }
}

}  // namespace

namespace {

/// The extent of a call, which all its tensors share; one of 1 if all are fixed.
Extent extent_of(const BoundCall& call) {
  for (const BoundTensor& tensor : call.tensors) {
    if (tensor && !tensor.shape().fixed()) {
      return tensor.shape().extent(0);
    }
  }
  return 1;
}

}  // namespace

std::string_view name_of(StepKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"dispatch", "host", "copy"};
  return kNames[static_cast<std::size_t>(kind)];
}

void StepList::reserve(std::size_t steps, std::size_t bindings) {
  steps_.reserve(steps);
  bindings_.reserve(bindings);
}

Step& StepList::append(StepKind kind, std::uint32_t node, const OpDef* op) {
  Step& step = steps_.emplace_back();
  step.kind = kind;
  step.node = node;
  step.op = op;
  step.first_binding = static_cast<std::uint32_t>(bindings_.size());
  step.first_byte = static_cast<std::uint32_t>(bytes_.size());
  step.first_spec = static_cast<std::uint32_t>(specs_.size());
  return step;
}

void StepList::append_bytes(Step& step, std::span<const std::byte> bytes) {
  step.byte_count = static_cast<std::uint32_t>(bytes.size());
  bytes_.resize(step.first_byte + (bytes.size() + 7) / 8 * 8);  // keeps attribute structs aligned
  std::ranges::copy(bytes, bytes_.begin() + step.first_byte);
}

void StepList::bind_grid(Step& step) {
  if (grid_storage_ == kNoGrids) {
    return;
  }
  const auto known = std::ranges::find_if(grids_, [&](const GridRow& row) {
    return row.groups.grid == step.grid && row.groups.live == step.live &&
           row.extent == step.extent;
  });
  const auto row = static_cast<std::uint64_t>(known - grids_.begin());
  if (known == grids_.end()) {
    grids_.push_back({{step.grid, step.live}, step.extent});
  }
  constexpr std::uint64_t kWordBytes = 4;
  step.indirect = true;
  bindings_.push_back({grid_storage_, Access::read, BindingType::grid,
                       (kGridHeaderWords + row * kGridRowWords + kGridNow) * kWordBytes,
                       sizeof(Grid)});
}

void StepList::append_dispatch(const BoundCall& call, const DeviceTraits& traits,
                               const Kernel& kernel, const Groups& groups,
                               std::span<const std::byte> push) {
  Step& step = append(StepKind::dispatch, call.node, &call.op);
  step.kernel = kernel;
  step.grid = groups.grid;
  if (groups.live.units != 0) {
    step.live = groups.live;
    step.extent = extent_of(call).word;
  }
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    const Operand& operand = operand_of(call.op, i);
    const BoundTensor& tensor = call.tensors[i] ? call.tensors[i] : call.tensors[0];
    const Access access = call.tensors[i] ? operand.access : Access::read;
    bindings_.push_back(bind(tensor, access, traits.binding_alignment));
    require_bindable(call.op, operand, bindings_.back(), traits);
  }
  if (call.tensors.size() > traits.max_storage_bindings) {
    throw Error(ErrorCode::unsupported,
                std::string(call.op.name) + " binds (" + std::to_string(call.tensors.size()) +
                    ") tensors, but a kernel of this device binds at most " +
                    std::to_string(traits.max_storage_bindings) + ".");
  }
  if (call.op.reads_state()) {
    Binding& state =
        bindings_.emplace_back(bind(call.state, Access::read, traits.binding_alignment));
    state.type = BindingType::uniform;
    state.bytes = std::min(state.bytes, traits.max_state_bytes);
  }
  bind_grid(step);
  step.binding_count = static_cast<std::uint32_t>(bindings_.size()) - step.first_binding;
  append_bytes(step, push);
}

void StepList::call(const BoundCall& call, Precision precision) {
  Step& step = append(StepKind::call, call.node, &call.op);
  step.precision = precision;
  if (const Extent extent = extent_of(call); !extent.fixed()) {
    step.grid[0] = static_cast<std::uint32_t>(extent.max);
    step.live.units = 1;
    step.extent = extent.word;
  }
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    const BoundTensor& tensor = call.tensors[i];
    bindings_.push_back(tensor ? bind(tensor, operand_of(call.op, i).access, 1) : Binding{});
    specs_.push_back(tensor ? *tensor.spec : TensorSpec{});
  }
  if (call.op.reads_state()) {
    bindings_.push_back(bind(call.state, Access::read, 1));
    bindings_.back().type = BindingType::uniform;
    specs_.push_back(*call.state.spec);
  }
  bind_grid(step);
  if (step.indirect) {
    specs_.emplace_back();
  }
  step.binding_count = static_cast<std::uint32_t>(bindings_.size()) - step.first_binding;
  append_bytes(step, call.attributes);
}

void StepList::copy(std::uint32_t node, const Binding& from, const Binding& to) {
  Step& step = append(StepKind::copy, node, nullptr);
  bindings_.push_back(from);
  bindings_.push_back(to);
  step.binding_count = 2;
}

void StepList::settle_extents(std::size_t first, std::span<const std::uint32_t> state) {
  for (std::size_t s = first; s < steps_.size(); ++s) {
    Step& step = steps_[s];
    if (step.extent == Extent::kFixed) {
      continue;
    }
    const std::uint32_t rows = state[step.extent];
    step.grid = live_grid({step.grid, step.live}, rows);
    if (step.kind == StepKind::call) {
      for (std::uint32_t i = 0; i < step.binding_count; ++i) {
        Shape& shape = specs_[step.first_spec + i].shape;
        shape = shape.fixed() ? shape : shape.with_front(rows);
      }
    }
    step.live = {};
    step.extent = Extent::kFixed;
  }
}

StepList StepList::only(std::size_t index, const Grid& grid) const {
  const Step& step = steps_[index];
  StepList list;
  Step& copy = list.append(step.kind, step.node, step.op);
  copy.kernel = step.kernel;
  copy.grid = grid;
  copy.binding_count = step.binding_count - (step.indirect ? 1U : 0U);
  const std::span<const Binding> bound = bindings(step).first(copy.binding_count);
  list.bindings_.assign(bound.begin(), bound.end());
  list.append_bytes(copy, bytes(step));
  return list;
}

namespace {

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

namespace {

constexpr std::uint64_t kMaxGroups = 65535;  // the least maxComputeWorkGroupCount a driver may have

std::uint64_t ceil_div(std::uint64_t value, std::uint64_t divisor) {
  return value == 0 ? 0 : (value - 1) / divisor + 1;
}

}  // namespace

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
    throw Error(ErrorCode::unsupported, "A dispatch of (" + std::to_string(groups) +
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
      throw Error(ErrorCode::unsupported, "A dispatch of (" + std::to_string(counts[i]) +
                                              ") workgroups along one axis is above the limit of "
                                              "65535.");
    }
    groups.grid[i] = static_cast<std::uint32_t>(counts[i]);
  }
  if (rows.live.units != 0 && groups.grid[axis] < kMaxGroups) {  // as many could be folded ones
    groups.live = rows.live;
    groups.live.axis = axis;
  }
  return groups;
}

namespace {

constexpr std::uint32_t kHalfWord = 2;  // bytes: all that blocks are aligned to

}  // namespace

View view_of(const BoundTensor& tensor, const DeviceTraits& traits) {
  View view;
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
