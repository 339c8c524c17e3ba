#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Multiplies with the weights of the experts that ids pick: y[r, j, :] = w[c] * x[r, j, :]. c is
/// the cell of w with the weights of the expert: ids[r, j], or cells[ids[r, j]] if cells are given.
///
/// An expert is missing if its id is outside 0 to experts - 1, or its cell is outside w or
/// negative. y[r, j, :] is then missing[r, j, :] bit for bit, or zeros if that is absent ({}). No
/// memory outside w is read. Sums as those of matmul. The bits of y[r, j, :] depend on its row of
/// x, the weights of its expert and the device alone. Other rows, their number, other experts and
/// the cell do not matter.
/// Shapes: x: [rows, used, k] f32, or [rows, 1, k], one row for all experts of a row, may be
/// strided; w: [cells, m, k] f32, f16, bf16 or any block format; ids: [rows, used] i32; cells:
/// [experts] i32, may be absent ({}); missing: f32 [rows, used, m]; y: [rows, used, m] f32.
/// Errors: invalid_argument if ranks or shapes differ from these, or k is 0 or splits a block.
[[nodiscard]] Tensor matmul_experts(Site site, TensorRef x, TensorRef w, TensorRef ids,
                                    TensorRef cells = {}, TensorRef missing = {});

}  // namespace reprise
