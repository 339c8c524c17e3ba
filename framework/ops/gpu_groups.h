// Workgroups of the gpu kernels: how many invocations share a row, and whether loads may be wide.
#pragma once
#include "framework/core/lowering.h"
#include "reprise/backend/step.h"

namespace reprise::ops {

/// A kernel and the workgroups that run it.
struct Dispatch {
  Kernel kernel;
  Groups groups;
};

/// llvmpipe ends the loops of an invocation after as many turns of all of them, without a word.
inline constexpr std::int64_t kMaxTurns = 65535;

/// Throws unsupported if a software driver might end a kernel's loops of that many turns over
/// `columns` columns.
void require_loop_limit(const BoundCall& call, const DeviceTraits& traits, std::int64_t turns,
                        std::int64_t columns);

/// A grid of workgroups, not invocations, folded as groups_for() does it: as many for every tile of
/// rows of a shape.
inline Groups grid_of(const Shape& rows, std::int64_t groups, std::uint32_t tile = 1) {
  return groups_for({rows, static_cast<std::uint64_t>(groups), tile}, 1);
}

/// Workgroups for tiles of the rows of y along x, of its columns along y, and its matrices along z.
Groups grid_of_tiles(const Shape& y, std::int64_t rows, std::int64_t columns);

/// The invocations of a workgroup that shares `items`: a power of two from 32 up, as many as there
/// are items where the device allows it, at most `most`.
std::uint32_t group_size(std::int64_t items, std::uint32_t max, const DeviceTraits& traits);

/// Whether all rows of a tensor begin at a multiple of that many elements of its binding.
bool rows_begin_at(const View& view, std::uint32_t elements);

}  // namespace reprise::ops
