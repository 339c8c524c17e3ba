// Several sequences at once: their prompts one after another, then a token of each per step. What
// differs between them is in arrays of the state: tokens, positions, rows of the caches.
#pragma once
#include "samples/llama/generate.h"

namespace llama {

/// The most sequences of one batch.
inline constexpr std::int64_t kMaxSequences = 64;

struct ParallelRequest {
  std::span<const std::vector<std::int32_t>> prompts;
  std::size_t count = 1;  // tokens to generate at most, of each
  std::int64_t context = 1;
  std::int32_t end_token = -1;
  Mode mode = Mode::recorded;
  Sampling sampling{};  // rows of a batch draw for themselves; the first token of sequence i with
                        // the seed and i
};

struct ParallelGeneration {
  std::vector<std::vector<std::int32_t>> ids;  // of each prompt, without the end token
  std::uint64_t steps = 0;                     // of the whole batch
  double prefill_seconds = 0, decode_seconds = 0;
};

/// The model has as many sequences as there are prompts. Those at their end keep their rows, which
/// are then computed for nothing. Throws invalid_argument as generate() does, and for another
/// number of prompts.
ParallelGeneration generate_parallel(reprise::GraphExecutor& executor, const Model& model,
                                     const ParallelRequest& request);

}  // namespace llama
