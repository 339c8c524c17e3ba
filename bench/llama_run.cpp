#include "bench/llama_run.h"

#include <algorithm>

namespace reprise::bench {
namespace {

constexpr std::int32_t kNoToken = -1;  // no token ends the text: every run has the same length
constexpr std::int32_t kFirstToken = 1;

/// Tokens all over the vocabulary, the same as bench/peers uses; the first three have a meaning.
std::int32_t token_at(std::int64_t position, std::int64_t vocabulary) {
  constexpr std::int64_t kSpecial = 3;
  constexpr std::int64_t kStride = 7919;
  return static_cast<std::int32_t>(
      vocabulary <= kSpecial ? 0 : kSpecial + position * kStride % (vocabulary - kSpecial));
}

}  // namespace

LlamaRun::LlamaRun(GraphExecutor& executor, const llama::Model& model, llama::Mode mode)
    : executor_(executor),
      model_(model),
      mode_(mode),
      state_(executor.device(), llama::state_layout(kNoToken)) {}

void LlamaRun::set_position(std::int64_t first, std::int64_t count) const {
  const std::int64_t context = model_.context;
  if (first < 0 || count < 1 || first + count > context) {
    throw_invalid_argument("The positions (", first, " to ", first + count - 1,
                           ") are asked for, but the context holds 0 to ", context - 1, ".");
  }
  state_.set("pos", static_cast<std::int32_t>(first));
}

std::int32_t LlamaRun::prompt(std::int64_t first, std::int64_t count, std::int64_t batch) {
  set_position(first, count);
  std::int32_t next = 0;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t rows = std::min(batch, count - done);
    tokens_.resize(static_cast<std::size_t>(rows));
    for (std::int32_t& token : tokens_) {
      token = token_at(done++, model_.sizes.vocabulary);
    }
    next = run(rows);
  }
  return next;
}

std::int32_t LlamaRun::generate(std::int64_t first, std::int64_t count) {
  set_position(first, count);
  state_.set("token", kFirstToken);
  tokens_.clear();
  std::int32_t next = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    next = run(1);
  }
  return next;
}

/// One launch. Without tokens_ the one in the state block goes in.
std::int32_t LlamaRun::run(std::int64_t rows) {
  state_.set("rows", static_cast<std::int32_t>(rows));
  if (tokens_.size() == 1) {
    state_.set("token", tokens_.front());
  }
  const auto options = [&] {
    return SessionOptions{.name = rows == 1 ? "decode" : "prefill", .state = state_};
  };
  if (mode_ == llama::Mode::direct) {
    auto session = executor_.begin(options());
    record(session, rows);
    return session.finish().read<std::int32_t>("next")[0];
  }
  auto it = graphs_.find(rows);
  if (it == graphs_.end()) {
    auto session = executor_.begin_recorded(options());
    record(session, rows);
    it = graphs_.emplace(rows, session.finish({.run = false}).graph).first;
  }
  CapturedGraph& graph = it->second;
  if (rows > 1) {
    graph.set_input("tokens", tokens_);
  }
  graph.launch();
  return graph.read<std::int32_t>("next")[0];
}

void LlamaRun::record(GraphSession& s, std::int64_t rows) const {
  const Tensor x = rows == 1 ? get_rows(s, model_.embedding, s.state("token"))
                             : get_rows(s, model_.embedding, s.input("tokens", {rows}, tokens_));
  s.output("next", llama::choose(s, llama::forward(s, model_, x)));
}

}  // namespace reprise::bench
