#include "samples/llama/executable.h"

#include <algorithm>

namespace llama {
using reprise::ExecutableGraph, reprise::GraphSession;

namespace {

std::string cache_name(char kind, std::size_t layer) {
  return std::string(1, kind) + "." + std::to_string(layer);
}

}  // namespace

ExecutableGraph make_executable(reprise::GraphExecutor& executor, const Model& model,
                                const ExecutableModel& options) {
  if (model.sizes.heads == 0) {
    throw reprise::Error(reprise::ErrorCode::unsupported,
                         "An executable graph has caches of keys and values, but the model has (0) "
                         "heads.");
  }
  const auto& [end_token, context, sampling, experts] = options;
  const reprise::Shape cache{context, model.sizes.kv_heads, model.sizes.head_dim};
  const reprise::DType type = model.layers.front().k_cache.dtype();
  const auto pass = [model, cache, type, sampling = sampling](GraphSession& s) {
    Model m = model;
    if (m.expert_store) {
      m.place_experts = [&s](const std::string& layer, const reprise::Tensor& ids,
                             const reprise::ExpertFunction& f) { return s.experts(layer, ids, f); };
    }
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
      m.layers[i].k_cache = s.input(cache_name('k', i), cache, type);
      m.layers[i].v_cache = s.input(cache_name('v', i), cache, type);
    }
    const auto tokens = s.input("tokens", {s.extent("rows")}, reprise::DType::i32);
    s.output("next", choose(s, forward(s, m, get_rows(s, m.embedding, tokens)), sampling));
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
      s.output(cache_name('k', i), m.layers[i].k_cache);
      s.output(cache_name('v', i), m.layers[i].v_cache);
    }
  };
  ExecutableGraph graph(
      executor, pass,
      {.name = "llama",
       .state = state_layout(end_token, static_cast<std::int32_t>(context), sampling),
       .extent = "rows",
       .buckets = {1, 8, kMaxTokens},
       .experts = {.store = model.expert_store, .options = experts}});
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    for (const char kind : {'k', 'v'}) {
      graph.create_handle({.name = cache_name(kind, i), .shape = cache, .dtype = type});
      graph.feed(cache_name(kind, i), cache_name(kind, i), {.mode = reprise::FeedMode::in_place});
    }
  }
  return graph;
}

std::vector<std::int32_t> begin_prompt(ExecutableGraph& graph,
                                       std::span<const std::int32_t> prompt) {
  constexpr auto kMost = static_cast<std::size_t>(kMaxTokens);
  while (prompt.size() > kMost) {  // what it chooses is not used
    graph.run({{"tokens", prompt.first(kMost)}});
    graph.state().set("done", 0);
    prompt = prompt.subspan(kMost);
  }
  return {prompt.begin(), prompt.end()};
}

namespace {

/// One prompt on its way.
struct Sequence {
  ExecutableGraph graph;
  std::vector<std::int32_t> next;  // tokens of the run to come
  std::vector<std::int32_t> ids;   // generated
  reprise::Ticket run{};

  void submit() { run = graph.submit({{"tokens", next}}); }
  /// False once it is at its end.
  bool take(std::size_t count, std::int64_t context) {
    const std::int32_t id = run.read<std::int32_t>("next")[0];
    if (run.state("done") != 0) {
      return false;
    }
    ids.push_back(id);
    next = {id};
    return ids.size() < count && run.state("pos") < context;
  }
};

}  // namespace

std::vector<std::vector<std::int32_t>> generate_all(
    const ExecutableGraph& graph, std::span<const std::vector<std::int32_t>> prompts,
    std::size_t count) {
  const std::int64_t context = graph.handles().front().shape.dim(0);
  std::vector<Sequence> sequences;
  for (const std::vector<std::int32_t>& prompt : prompts) {
    sequences.push_back({graph.fork(), {}, {}});
    sequences.back().next = begin_prompt(sequences.back().graph, prompt);
  }
  std::vector<Sequence*> running;
  for (Sequence& sequence : sequences) {
    sequence.submit();
    running.push_back(&sequence);
  }
  while (!running.empty()) {
    std::erase_if(running, [&](Sequence* s) { return !s->take(count, context); });
    std::ranges::for_each(running, &Sequence::submit);
  }
  std::vector<std::vector<std::int32_t>> all;
  all.reserve(sequences.size());
  for (Sequence& sequence : sequences) {
    all.push_back(std::move(sequence.ids));
  }
  return all;
}

}  // namespace llama
