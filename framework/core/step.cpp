#include "reprise/backend/step.h"

#include <algorithm>

#include "framework/core/op.h"

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
    throw_error(ErrorCode::unsupported, op.name, " binds (", binding.bytes, ") bytes as ",
                operand.name, ", but this device binds at most ", traits.max_binding_bytes,
                " bytes (its storage range).");
  }
}

}  // namespace

std::string_view name_of(StepKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"dispatch", "host", "copy"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string to_string(const Kernel& kernel) {
  std::string text(kernel.shader);
  for (std::uint32_t i = 0; i < kernel.constant_count; ++i) {
    text += (i == 0 ? " (" : ", ") + std::to_string(kernel.constants[i]);
  }
  return text + (kernel.constant_count == 0 ? "" : ")");
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
  step.writes_grids = writes_grids_;
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

void StepList::dispatch_bytes(const BoundCall& call, const DeviceTraits& traits,
                              const Kernel& kernel, const Groups& groups,
                              std::span<const std::byte> push) {
  Step& step = append(StepKind::dispatch, call.node, &call.op);
  step.kernel = kernel;
  step.grid = groups.grid;
  if (groups.live.units != 0) {
    step.live = groups.live;
    step.extent = extent_of(call.tensors).word;
  }
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    const Operand& operand = operand_of(call.op, i);
    const BoundTensor& tensor = call.tensors[i] ? call.tensors[i] : call.tensors[0];
    const Access access = call.tensors[i] ? operand.access : Access::read;
    bindings_.push_back(bind(tensor, access, traits.binding_alignment));
    require_bindable(call.op, operand, bindings_.back(), traits);
  }
  if (call.tensors.size() > traits.max_storage_bindings) {
    throw_error(ErrorCode::unsupported, call.op.name, " binds (", call.tensors.size(),
                ") tensors, but a kernel of this device binds at most ",
                traits.max_storage_bindings, ".");
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
  if (const Extent extent = extent_of(call.tensors); !extent.fixed()) {
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

}  // namespace reprise
