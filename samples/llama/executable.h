// A Llama model as an executable graph: tokens in, the next token out, its key-value cache in
// handles. One graph serves prompts of any length up to its largest bucket and single tokens.
#pragma once
#include "samples/llama/forward.h"

namespace llama {

/// Largest number of tokens of one run.
inline constexpr std::int64_t kMaxTokens = 64;

struct ExecutableModel {
  std::int32_t end_token = -1;
  std::int64_t context = 1;
  Sampling sampling{};
  reprise::ExpertOptions experts{};  // of a model with a store of them
};

/// Inputs: tokens, i32 [rows]; output: next, i32 [1]. A fork is another sequence. The model's own
/// cache is not used.
reprise::ExecutableGraph make_executable(reprise::GraphExecutor& executor, const Model& model,
                                         const ExecutableModel& options);

/// Runs as many tokens of a prompt as leave 1 to kMaxTokens; returns those that are left.
std::vector<std::int32_t> begin_prompt(reprise::ExecutableGraph& graph,
                                       std::span<const std::int32_t> prompt);

/// Continues each prompt by `count` tokens at most, every one in a fork of its own; while one
/// decodes, the next ones are submitted. The end token is not among the results.
std::vector<std::vector<std::int32_t>> generate_all(
    const reprise::ExecutableGraph& graph, std::span<const std::vector<std::int32_t>> prompts,
    std::size_t count);

}  // namespace llama
