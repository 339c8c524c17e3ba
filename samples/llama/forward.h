// The forward pass of a model: embedded tokens through its layers to logits. archs/ has the layers.
#pragma once
#include <limits>

#include "samples/llama/model.h"

namespace llama {

/// What the pass reads and writes of the state block: `rows` tokens enter at `pos`, keys up to
/// `kv_len` are seen, at most `context` of them, `token` and `done` say what came out.
reprise::StateLayout state_layout(std::int32_t end_token,
                                  std::int32_t context = std::numeric_limits<std::int32_t>::max());

/// x: [rows, dim], the embedded tokens at positions pos, pos + 1, ...; rows may be the extent of
/// the field `rows`. Returns the logits of the last row, [1, vocabulary], and stores keys and
/// values.
reprise::Tensor forward(reprise::Recorder& s, const Model& m, const reprise::Tensor& x);
/// The same with the logits of every row, [rows, vocabulary].
reprise::Tensor forward_all(reprise::Recorder& s, const Model& m, const reprise::Tensor& x);

/// Picks the most likely token and moves the state to the next position. Returns it, [1] i32.
reprise::Tensor choose(reprise::Recorder& s, const reprise::Tensor& logits);

}  // namespace llama
