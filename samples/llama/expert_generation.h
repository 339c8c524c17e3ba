// Generation where the device has some of a model's experts at a time: an executable graph moves
// those that routers ask for into a budget of device memory.
#pragma once
#include "samples/llama/generate.h"

namespace llama {

struct ExpertGeneration {
  std::vector<std::int32_t> ids{};  // generated ones; the end token is not among them
  std::uint64_t steps = 0;          // runs of the graph that decoded
  std::int64_t cells = 0;           // experts of a layer that the device has at a time
  double prefill_seconds = 0, decode_seconds = 0;
  std::vector<reprise::ExpertStats> layers{};
};

/// The model has a store of experts. Otherwise the same as generate(), for recorded mode and one
/// iteration per submit. Errors: out_of_memory for a budget without room for an expert of each
/// layer.
ExpertGeneration generate_with_experts(reprise::GraphExecutor& executor, const Model& model,
                                       const Request& request, std::uint64_t budget_bytes,
                                       const std::function<void(std::int32_t)>& emit);

}  // namespace llama
