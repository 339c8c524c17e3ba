// From a call to steps: how much of a grid runs, and how kernels see strided operands.
#pragma once
#include <array>

#include "framework/core/op.h"
#include "reprise/backend/step.h"

namespace reprise {

/// Something to compute, so many units of it: as many for every tile of rows, where the first
/// dimension of a shape is an extent of the state.
struct Work {
  Work(std::uint64_t units) : count(units) {}  // NOLINT(google-explicit-constructor)
  Work(const Shape& rows, std::uint64_t units, std::uint32_t tile = 1);
  std::uint64_t count;
  LiveGroups live{};
};

/// Lowers one node: the op's own lowering, or one call on devices that run references.
void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps);

/// Workgroups of `local` invocations each, one per unit of the work, folded into y above 65,535:
/// kernels find their index with linear_index() of shaders/include/index.glsl and leave early past
/// the end. Units of one row must follow each other, row after row.
Groups groups_for(const Work& invocations, std::uint32_t local);
/// Workgroups by axis, at most 65,535 along each; the work is what one axis counts.
Groups groups_along(const std::array<std::uint64_t, 3>& counts, std::uint32_t axis,
                    const Work& rows);

/// How a kernel addresses a strided operand: offset from the binding in elements, of block formats
/// in units of 2 bytes; strides of the shape padded to four dimensions in elements (0 for broadcast
/// ones). Mirrors View in shaders/include/view.glsl.
struct View {
  std::uint32_t offset = 0;
  std::array<std::uint32_t, 4> strides{};
};
/// Zeros of an absent tensor.
View view_of(const BoundTensor& tensor, const DeviceTraits& traits);

}  // namespace reprise
