#pragma once
#include <span>

#include "reprise/core/recorder.h"

namespace reprise {

/// Keeps the results of one iteration of a submission. Row `iteration[0] - 1` of `rows` gets the
/// words of the sources, one after another from `first_word` on. Nothing is written if that row
/// does not exist. The framework records it at the end of graphs that run several iterations per
/// submission; a forward pass does not call it.
/// Shapes: iteration: i32 [4 or more], see backend/step.h; rows: i32 [iterations, words]; sources:
/// 1 to 4, contiguous, f32 or i32. Errors: invalid_argument for other counts of sources, or sources
/// that do not fit into a row.
void collect(Site site, TensorRef iteration, TensorRef rows, std::span<const Tensor> sources,
             std::int32_t first_word = 0);

}  // namespace reprise
