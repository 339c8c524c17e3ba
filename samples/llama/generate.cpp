#include "samples/llama/generate.h"

#include <algorithm>
#include <chrono>

namespace llama {
void require_prompt(const Model& model, const Request& request) {
  const auto prompt = request.prompt;
  if (prompt.empty()) {
    reprise::throw_invalid_argument("The prompt has (0) tokens, but generation needs at least 1.");
  }
  if (static_cast<std::int64_t>(prompt.size()) > request.context) {
    reprise::throw_invalid_argument("The prompt has (" + std::to_string(prompt.size()) +
                                    ") tokens, but the context holds " +
                                    std::to_string(request.context) + ".");
  }
  require_tokens(model, prompt);
}

void require_tokens(const Model& model, std::span<const std::int32_t> tokens) {
  for (const std::int32_t id : tokens) {
    if (id < 0 || id >= model.sizes.vocabulary) {
      reprise::throw_invalid_argument("The text has the token (" + std::to_string(id) +
                                      "), but tokens are 0 to " +
                                      std::to_string(model.sizes.vocabulary - 1) + ".");
    }
  }
}

void record_step(reprise::GraphSession& s, const Model& model, const Sampling& sampling) {
  const auto x = get_rows(s, model.embedding, s.state("token"));
  s.output("next", choose(s, forward(s, model, x), sampling));
}

void record_prompt(reprise::GraphSession& s, const Model& model,
                   std::span<const std::int32_t> prompt, const Sampling& sampling) {
  const auto tokens = s.input("tokens", {static_cast<std::int64_t>(prompt.size())}, prompt);
  const auto x = get_rows(s, model.embedding, tokens);
  s.output("next", choose(s, forward(s, model, x), sampling));
}

reprise::StateBlock make_state(const reprise::Device& device, const Request& request) {
  reprise::StateBlock state(
      device, state_layout(request.end_token, static_cast<std::int32_t>(request.context),
                           request.sampling));
  if (request.sampling.penalises()) {
    state.set("recent", recent_tokens(request.prompt));
  }
  return state;
}

Generation generate(reprise::GraphExecutor& executor, const Model& model, const Request& request,
                    const std::function<void(std::int32_t)>& emit) {
  const auto& [prompt, count, context, end_token, mode, max, sampling] = request;
  require_prompt(model, request);
  Generation result;
  const reprise::StateBlock state = make_state(executor.device(), request);
  const auto take = [&](std::int32_t id, std::int32_t done, std::int32_t position) {
    if (done != 0) {
      return false;
    }
    result.ids.push_back(id);
    emit(id);
    return result.ids.size() < request.count && position < request.context;
  };
  const auto take_last = [&](std::int32_t id) {
    return take(id, state.get("done"), state.get("pos"));
  };

  state.set("rows", static_cast<std::int32_t>(prompt.size()));
  auto prefill = executor.begin({.name = "prefill", .state = state});
  record_prompt(prefill, model, prompt, sampling);
  const auto first = prefill.finish();
  result.prefill = first.report;
  bool more = take_last(first.read<std::int32_t>("next")[0]);

  const auto begin = std::chrono::steady_clock::now();
  state.set("rows", 1);
  std::uint64_t settled = 0;  // allocations once one decode step has run
  const auto note = [&](std::uint64_t submit, std::uint64_t wait,
                        std::optional<std::uint64_t> device) {
    result.submit_ns.push_back(submit);
    result.wait_ns.push_back(wait);
    if (device) {
      result.device_ns.push_back(*device);
    }
  };
  const auto settle = [&] {
    settled = settled == 0 ? executor.device().status().allocations : settled;
  };
  if (more && mode == Mode::recorded) {
    auto session =
        executor.begin_recorded({.name = "decode", .state = state, .max_iterations = max});
    record_step(session, model, sampling);
    auto recorded = session.finish();  // runs the first step
    result.decode = recorded.report;
    result.submissions = 1;
    note(recorded.report.submit_ns, recorded.report.wait_ns, recorded.report.device_ns);
    settle();
    reprise::CapturedGraph& graph = recorded.graph;
    more = take_last(graph.read<std::int32_t>("next")[0]);
    while (more) {
      graph.launch({.iterations = static_cast<std::uint32_t>(
                        std::min<std::size_t>(max, count - result.ids.size()))});
      ++result.submissions;
      more = graph.iterations() > 0;
      const auto times = graph.last_times();
      const std::uint64_t ran = std::max<std::uint64_t>(graph.iterations(), 1);
      for (std::uint32_t i = 0; more && i < graph.iterations(); ++i) {
        note(times.submit_ns / ran, times.wait_ns / ran,
             times.device_ns ? std::optional(*times.device_ns / ran) : std::nullopt);
        more = take(graph.read<std::int32_t>("next", i)[0], graph.state("done", i),
                    graph.state("pos", i));
      }
    }
    result.replays = graph.num_replays();
  }
  while (more) {
    auto session = executor.begin({.name = "decode", .state = state});
    record_step(session, model, sampling);
    const auto step = session.finish();
    result.decode = step.report;
    note(step.report.submit_ns, step.report.wait_ns, step.report.device_ns);
    settle();
    more = take_last(step.read<std::int32_t>("next")[0]);
  }
  result.decode_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (settled != 0) {
    result.allocations = executor.device().status().allocations - settled;
  }
  return result;
}

}  // namespace llama
