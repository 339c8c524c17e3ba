// How well a model foretells a text: exp of the mean of -log(probability) of its tokens.
#pragma once
#include <functional>

#include "samples/llama/generate.h"

namespace llama {

struct Perplexity {
  double value = 0;
  double error = 0;        // standard error of `value`
  std::size_t tokens = 0;  // that were foretold
  std::size_t chunks = 0;
};

struct PerplexityRequest {
  std::span<const std::int32_t> tokens;
  std::int64_t context = 2;       // tokens of a chunk
  std::int32_t first_token = -1;  // in the place of the first one of every chunk; -1: none
  Mode mode = Mode::recorded;
};

/// The text is cut into chunks of `context` tokens, the rest is left out. Of each chunk the tokens
/// of its second half count, so that all of them have half a chunk before them: the method of
/// llama.cpp's perplexity tool. `report` is called with the result so far after every chunk.
/// Throws invalid_argument if the text has no whole chunk, a chunk fewer than 4 tokens, or a token
/// is outside the vocabulary.
Perplexity perplexity(reprise::GraphExecutor& executor, const Model& model,
                      const PerplexityRequest& request,
                      const std::function<void(const Perplexity&)>& report = {});

}  // namespace llama
