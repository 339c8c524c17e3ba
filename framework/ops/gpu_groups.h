// Workgroups of the gpu kernels: how many invocations share a row, and whether loads may be wide.
#pragma once
#include "reprise/core/step.h"

namespace reprise::ops {

/// A kernel and the workgroups that run it.
struct Dispatch {
  Kernel kernel;
  Grid grid;
};

/// llvmpipe ends the loops of an invocation after as many turns of all of them, without a word.
inline constexpr std::int64_t kMaxTurns = 65535;

/// Throws unsupported if a software driver might end a kernel's loops of that many turns over
/// `columns` columns.
void require_turns(const BoundCall& call, const DeviceTraits& traits, std::int64_t turns,
                   std::int64_t columns);

/// A grid of workgroups, not invocations, folded as groups_for() does it.
inline Grid grid_of(std::int64_t groups) {
  return groups_for(static_cast<std::uint64_t>(groups), 1);
}

/// The invocations of a workgroup that shares `items`: a power of two from 32 up, as many as there
/// are items where the device allows it, at most `most`.
std::uint32_t group_size(std::int64_t items, std::uint32_t most, const DeviceTraits& traits);

/// Whether all rows of a tensor begin at a multiple of that many elements of its binding.
bool rows_begin_at(const View& view, std::uint32_t elements);

}  // namespace reprise::ops
