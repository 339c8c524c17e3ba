// The shape rule of run-time kernels: what one call is checked for while it is recorded.
#include <algorithm>

#include "framework/core/custom_op.h"
#include "framework/core/op.h"
#include "reprise/backend/backend.h"

namespace reprise {
namespace {

constexpr std::uint64_t kMaxInvocations = 0xFFFFFFFF;  // along one axis: shaders count in 32 bits

void require_inputs(const OpCall& call, std::uint32_t alignment) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorRef& t = call.inputs[i];
    if (t && t.shape().elements() == 0) {
      throw_invalid_argument(call.op.name, " needs tensors with elements, but ", describe(call, i),
                             " has none.");
    }
    if (t && t->offset % alignment != 0) {
      throw_error(ErrorCode::unsupported, describe(call, i), " begins at byte (", t->offset,
                  ") of its memory; this device binds at multiples of ", alignment,
                  ". Call copy first.");
    }
  }
}

Outputs outputs_of(const CustomOp& op, const CustomCall& call) {
  const Extent rows = extent_of(call.inputs);
  Outputs outputs;
  for (const TensorSpec& spec : call.outputs) {
    const Operand& row = op.results[outputs.count];
    const std::string text =
        joined_text(op.title(), " is to make '", row.name, "' as (", to_string(spec), ")");
    if (spec.shape.rank() == 0 || spec.shape.elements() == 0) {
      throw_invalid_argument(text, ", which has no elements.");
    }
    if (!holds(row.dtypes, spec.dtype)) {
      throw_invalid_argument(text, ", a dtype that its interface does not allow there.");
    }
    if (spec.shape.extent_word() != rows.word) {
      throw_invalid_argument(text, rows.fixed() ? ", but no tensor it reads has that extent."
                                                : ", but what it reads has an extent of the "
                                                  "state; make it of x.shape().extent(0) rows.");
    }
    outputs.specs[outputs.count++] = TensorSpec(spec.shape, spec.dtype);
  }
  return outputs;
}

void require_grid(const CustomOp& op, const Grid& grid) {
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    const std::string text = joined_text(op.title(), " is dispatched over (", grid[axis],
                                         ") workgroups along axis ", axis);
    if (grid[axis] == 0) {
      throw_invalid_argument(text, "; at least 1 is needed, or nothing would be written.");
    }
    if (op.shader == nullptr) {
      continue;
    }
    const std::uint64_t max = op.shader->max_groups[axis];
    const std::uint64_t local = op.shader->interface.local_size[axis];
    if (grid[axis] > max || grid[axis] * local > kMaxInvocations) {
      throw_error(ErrorCode::unsupported, text, ", but with workgroups of ", local, " at most ",
                  std::min(max, kMaxInvocations / local), " are possible on this device.");
    }
  }
}

}  // namespace

Outputs infer_custom(const OpCall& call) {
  const auto& op = static_cast<const CustomOp&>(call.op);
  require_grid(op, CustomOp::header_of(call.attributes).grid);
  if (const auto device = op.device.lock(); device != nullptr) {
    require_inputs(call, device->traits().binding_alignment);
  }
  return outputs_of(op, static_cast<const CustomCall&>(call));  // dispatch() makes them all
}

}  // namespace reprise
