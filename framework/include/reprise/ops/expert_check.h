#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Stops an iteration where a row names an expert without a cell: the number `stop` goes into word
/// 3 of the iteration, and all of its grids become empty. Returns where each expert is, for
/// matmul_experts. The framework records it for experts on a budget; a forward pass does not call
/// it.
///
/// The first check of a layer adds 1 to `uses` for every id, and returns the cells. One of a later
/// round is given what the check before it returned: there -1 is an expert that no round served
/// yet. It returns -2 for those that some round did. Ids of no expert count nowhere.
/// Shapes: ids: i32 [rows, used]; cells: i32 [experts]; iteration: i32 [words], written, see
/// plan(); uses: i32 [experts], written; the result: i32 [experts].
/// Errors: invalid_argument for other shapes.
Tensor expert_check(Site site, TensorRef ids, TensorRef cells, TensorRef iteration, TensorRef uses,
                    std::int32_t stop, bool first);

}  // namespace reprise
