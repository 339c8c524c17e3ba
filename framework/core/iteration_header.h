// The words in front of the grids that steps read from memory: of a launch whose steps may be
// empty, kept by the ops `plan` and `expert_check` and read by the host.
#pragma once
#include "reprise/backend/step.h"

namespace reprise {

inline constexpr std::uint32_t kIterationsRun = 0;  // how many ran in this launch
inline constexpr std::uint32_t kIterationRuns = 1;  // whether this one does
inline constexpr std::uint32_t kIterationGrids = 2;
/// The place where it stopped, to be gone on with; 0: nowhere. Nothing before that is done again.
inline constexpr std::uint32_t kIterationStop = 3;
static_assert(kIterationStop + 1 == kGridHeaderWords);

/// Grids that the storage has room for.
inline std::int64_t grid_rows(const Shape& iteration) {
  return (iteration.back() - kGridHeaderWords) / kGridRowWords;
}

}  // namespace reprise
