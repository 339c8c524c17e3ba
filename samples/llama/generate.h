// Generation: the prompt as one direct session, then one token per step.
#pragma once
#include <functional>
#include <vector>

#include "samples/llama/forward.h"

namespace llama {

enum class Mode { direct, recorded };

struct Generation {
  std::vector<std::int32_t> ids;  // generated ones; the end token is not among them
  reprise::FinishReport prefill;  // of the prompt's session
  reprise::FinishReport decode;   // of the recorded session, or of the last direct one
  std::uint64_t replays = 0;      // of the one decode recording
  std::uint64_t submissions = 0;  // that made them
  std::uint64_t allocations = 0;  // of device memory after the first token
  double decode_seconds = 0;      // from the first token to the last
  // One per decode step; device times only where the device can time itself.
  std::vector<std::uint64_t> submit_ns, wait_ns, device_ns;
};

struct Request {
  std::span<const std::int32_t> prompt;
  std::size_t count = 1;  // tokens to generate at most
  std::int64_t context = 1;
  std::int32_t end_token = -1;
  Mode mode = Mode::recorded;
  std::uint32_t iterations_per_submit = 1;  // recorded mode only
  Sampling sampling{};
};

/// Throws invalid_argument for an empty prompt, one longer than the context, and a token outside
/// the vocabulary.
void require_prompt(const Model& model, const Request& request);
/// Throws invalid_argument for a token outside the vocabulary.
void require_tokens(const Model& model, std::span<const std::int32_t> tokens);
/// The prompt in, the next token out, at the position of the state block.
void record_prompt(reprise::GraphSession& s, const Model& model,
                   std::span<const std::int32_t> prompt, const Sampling& sampling = {});
/// One step: the token in the state block goes in, the next one comes out.
void record_step(reprise::GraphSession& s, const Model& model, const Sampling& sampling = {});
/// The state of a generation before its prompt.
reprise::StateBlock make_state(const reprise::Device& device, const Request& request);

/// `emit` is called with each token as it comes. Stops at the end token and at the end of the
/// context. Errors: invalid_argument for an empty prompt, one longer than the context, a token
/// outside the vocabulary.
Generation generate(reprise::GraphExecutor& executor, const Model& model, const Request& request,
                    const std::function<void(std::int32_t)>& emit);

}  // namespace llama
