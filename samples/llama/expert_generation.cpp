#include "samples/llama/expert_generation.h"

#include <chrono>

#include "samples/llama/executable.h"

namespace llama {

ExpertGeneration generate_with_experts(reprise::GraphExecutor& executor, const Model& model,
                                       const Request& request, std::uint64_t budget_bytes,
                                       const std::function<void(std::int32_t)>& emit) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  };
  require_prompt(model, request);
  const reprise::ExpertOptions experts{.budget_bytes = budget_bytes};
  ExpertGeneration result{
      .cells = reprise::ExpertSetup{.store = model.expert_store, .options = experts}.cells()};
  reprise::ExecutableGraph graph = make_executable(executor, model,
                                                   {.end_token = request.end_token,
                                                    .context = request.context,
                                                    .sampling = request.sampling,
                                                    .experts = experts});
  const auto begin = Clock::now();
  std::vector<std::int32_t> next = begin_prompt(graph, request.prompt);
  if (request.sampling.penalises()) {
    graph.state().set("recent", recent_tokens(request.prompt));
  }
  Clock::time_point prefilled{};
  for (;;) {
    const std::int32_t id = graph.run({{"tokens", next}}).read<std::int32_t>("next")[0];
    if (prefilled == Clock::time_point{}) {
      prefilled = Clock::now();
    } else {
      ++result.steps;
    }
    if (graph.state().get("done") != 0) {
      break;
    }
    result.ids.push_back(id);
    emit(id);
    if (result.ids.size() == request.count || graph.state().get("pos") >= request.context) {
      break;
    }
    next = {id};
  }
  result.prefill_seconds = seconds(begin, prefilled);
  result.decode_seconds = seconds(prefilled, Clock::now());
  result.layers = graph.expert_stats();
  return result;
}

}  // namespace llama
