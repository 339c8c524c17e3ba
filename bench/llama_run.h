// The forward pass of the llama sample as benchmarks run it: prompts of any length and greedy
// steps, at any position, in recorded or direct sessions.
#pragma once
#include <map>

#include "samples/llama/forward.h"
#include "samples/llama/generate.h"

namespace reprise::bench {

/// Keeps references to the executor and the model. A graph is recorded at its first use, which is
/// not to be measured. Throws invalid_argument for positions outside of the model's cache.
class LlamaRun {
 public:
  LlamaRun(GraphExecutor& executor, const llama::Model& model, llama::Mode mode);

  /// Tokens at the positions from `first` on, in batches of at most `batch`. Returns the next one.
  std::int32_t prompt(std::int64_t first, std::int64_t count, std::int64_t batch);
  /// `count` steps of one token from position `first` on. Returns the last one.
  std::int32_t generate(std::int64_t first, std::int64_t count);

  /// Recorded so far, by tokens per launch: 1 is the step of generate().
  const std::map<std::int64_t, CapturedGraph>& graphs() const { return graphs_; }

 private:
  std::int32_t run(std::int64_t rows);
  void record(GraphSession& s, std::int64_t rows) const;
  void set_position(std::int64_t first, std::int64_t count) const;

  GraphExecutor& executor_;
  const llama::Model& model_;
  llama::Mode mode_;
  StateBlock state_;
  std::vector<std::int32_t> tokens_;  // of the next launch of a prompt
  std::map<std::int64_t, CapturedGraph> graphs_;
};

}  // namespace reprise::bench
