#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Products with the weights of the experts that ids pick: y[r, j, :] = w[c] * x[r, j, :], where c
/// is ids[r, j], or cells[ids[r, j]] if there are cells: where the weights of each expert lie in w.
/// x: [rows, used, k] f32, or [rows, 1, k], one row for all experts of a row, may be strided; w:
/// [cells, m, k] f32, f16, bf16 or any block format; ids: [rows, used] i32; cells: [experts] i32,
/// may be absent
/// ({}); y: [rows, used, m] f32.
/// An id outside 0 to experts - 1, or a cell outside w, negative ones too, means that the expert is
/// not there: y[r, j, :] is then missing[r, j, :] bit for bit, f32 [rows, used, m], or zeros if
/// that is absent ({}). No memory outside w is read. Sums as those of matmul. The bits of y[r, j,
/// :] depend on its row of x, the weights of its expert and the device alone: on no other row, nor
/// on how many there are, on no other expert, nor on the cell. Errors: invalid_argument if ranks or
/// shapes are others than above, or k is 0 or splits a block.
[[nodiscard]] Tensor matmul_experts(Site site, TensorRef x, TensorRef w, TensorRef ids,
                                    TensorRef cells = {}, TensorRef missing = {});

}  // namespace reprise
