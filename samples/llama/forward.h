// The forward pass of a model: embedded tokens through its layers to logits. archs/ has the layers.
#pragma once
#include <limits>

#include "samples/llama/model.h"

namespace llama {

/// How the next token is chosen: reprise/ops/sample.h has the meaning of each number, and their
/// order. As they are here, it is the most likely one.
struct Sampling {
  float temperature = 0;
  std::int32_t top_k = 0;
  float top_p = 1, min_p = 0, repeat_penalty = 1;
  std::int32_t seed = 0;

  bool penalises() const { return repeat_penalty != 1; }
  bool greedy() const { return temperature == 0 && !penalises(); }
};
/// The last tokens of a sequence, which a penalty is for.
inline constexpr std::int32_t kRecentTokens = 64;
/// A ring of them: token i of the sequence is at i mod kRecentTokens; -1 where there is none.
std::vector<std::int32_t> recent_tokens(std::span<const std::int32_t> tokens);

/// What the pass reads and writes of the state block: tokens enter at `pos`, `rows` of them, behind
/// which is `kv_len`, at most `context`; `token` and `done` say what came out. With a
/// penalty there is the array `recent`.
reprise::StateLayout state_layout(std::int32_t end_token,
                                  std::int32_t context = std::numeric_limits<std::int32_t>::max(),
                                  const Sampling& sampling = {});

/// x: [rows, dim], the embedded tokens at positions pos, pos + 1, ...; rows may be the extent of
/// the field `rows`. Returns the logits of the last row, [1, vocabulary], and stores keys and
/// values.
reprise::Tensor forward(reprise::Recorder& s, const Model& m, const reprise::Tensor& x);
/// The same with the logits of every row, [rows, vocabulary].
reprise::Tensor forward_all(reprise::Recorder& s, const Model& m, const reprise::Tensor& x);

/// A token of each row, [rows] i32. recent: i32 [n] or [rows, n], empty without a penalty.
reprise::Tensor draw(reprise::Recorder& s, const reprise::Tensor& logits, const Sampling& sampling,
                     const reprise::StateField& position, const reprise::Tensor& recent);

/// Chooses a token and moves the state to the next position. Returns it, [1] i32.
reprise::Tensor choose(reprise::Recorder& s, const reprise::Tensor& logits,
                       const Sampling& sampling = {});

}  // namespace llama
