#include "samples/llama/parallel.h"

#include <algorithm>
#include <chrono>

namespace llama {
namespace {

using reprise::GraphSession, reprise::StateBlock;

using Ids = std::vector<std::int32_t>;

std::string kv_len(std::size_t sequence) { return "kv_len." + std::to_string(sequence); }

reprise::StateLayout batch_layout(std::uint32_t sequences, std::int32_t context) {
  reprise::StateLayout layout;
  layout.host("draw");
  for (std::uint32_t i = 0; i < sequences; ++i) {
    layout.host(kv_len(i), 0, {.low = 0, .high = context});
  }
  return layout.array("positions", sequences)
      .array("slots", sequences)
      .array("recent_slots", sequences)
      .carried_array("tokens", sequences);
}

/// The token of each sequence goes in, the next ones come out.
void record_batch_step(GraphSession& s, const Model& model, const Sampling& sampling,
                       const reprise::Tensor& recent) {
  const auto tokens = s.state_array("tokens");
  const auto logits = forward_all(s, model, get_rows(s, model.embedding, tokens));
  const auto scope = s.scope("choose");
  const auto of_each = recent ? reshape(s, recent, {model.sequences, kRecentTokens}) : recent;
  const auto next = draw(s, logits, sampling, s.state("draw"), of_each);
  if (recent) {
    set_rows(s, recent, next, s.state_array("recent_slots"));
  }
  set_rows(s, tokens, next, {.position = 0});
  s.output("next", next);
}

/// Where each sequence stands, and what it has said.
class Batch {
 public:
  Batch(const reprise::Device& device, const ParallelRequest& request)
      : request_(request),
        context_(static_cast<std::int32_t>(request.context)),
        state_(device, batch_layout(static_cast<std::uint32_t>(request.prompts.size()), context_)),
        positions_(request.prompts.size()),
        slots_(request.prompts.size(), kNowhere),
        recent_slots_(request.prompts.size()),
        tokens_(request.prompts.size()),
        ids_(request.prompts.size()) {}

  const StateBlock& state() const { return state_; }
  std::vector<Ids>& ids() { return ids_; }
  bool running() const {
    return std::ranges::any_of(slots_, [](std::int32_t slot) { return slot != kNowhere; });
  }

  /// The first token after a prompt.
  void start(std::size_t i, std::int32_t id) {
    const Ids ring = recent_tokens(request_.prompts[i]);
    recent_.insert(recent_.end(), ring.begin(), ring.end());
    positions_[i] = static_cast<std::int32_t>(request_.prompts[i].size());
    take(i, id);
  }
  /// Before the first step: later ones find the tokens on the device.
  void send_tokens() const { state_.set("tokens", tokens_); }
  /// i32 [sequences * kRecentTokens], empty without a penalty.
  reprise::Tensor recent(const reprise::Device& device) const {
    return request_.sampling.penalises()
               ? device.from_host({static_cast<std::int64_t>(recent_.size())}, recent_, "recent")
               : reprise::Tensor();
  }
  void send_places(std::uint64_t step) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      recent_slots_[i] =
          static_cast<std::int32_t>(i) * kRecentTokens + (positions_[i] + 1) % kRecentTokens;
    }
    state_.set({{"positions", positions_},
                {"slots", slots_},
                {"recent_slots", recent_slots_},
                {"draw", context_ + 1 + static_cast<std::int32_t>(step)}});
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      state_.set(kv_len(i), slots_[i] == kNowhere ? 0 : positions_[i] + 1);
    }
  }
  void take(const Ids& next) {
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (slots_[i] != kNowhere) {
        ++positions_[i];
        take(i, next[i]);
      }
    }
  }

 private:
  static constexpr std::int32_t kNowhere = -1;  // a row of the caches that is not written

  void take(std::size_t i, std::int32_t id) {
    slots_[i] = kNowhere;
    tokens_[i] = id;
    if (id == request_.end_token) {
      return;
    }
    ids_[i].push_back(id);
    recent_[i * kRecentTokens + static_cast<std::size_t>(positions_[i] % kRecentTokens)] = id;
    if (ids_[i].size() < request_.count && positions_[i] < context_) {
      slots_[i] = static_cast<std::int32_t>(i) * context_ + positions_[i];
    }
  }

  const ParallelRequest& request_;
  std::int32_t context_;
  StateBlock state_;
  Ids positions_, slots_, recent_slots_, tokens_, recent_;
  std::vector<Ids> ids_;
};

}  // namespace

ParallelGeneration generate_parallel(reprise::GraphExecutor& executor, const Model& model,
                                     const ParallelRequest& request) {
  const std::size_t sequences = request.prompts.size();
  if (sequences < 2 || static_cast<std::int64_t>(sequences) != model.sequences) {
    reprise::throw_invalid_argument(
        "There are (" + std::to_string(sequences) + ") prompts, but the model was loaded for " +
        std::to_string(model.sequences) + " sequences; a batch has at least 2.");
  }
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  ParallelGeneration result;
  Batch batch(executor.device(), request);

  const auto prefill_begin = Clock::now();
  for (std::size_t i = 0; i < sequences; ++i) {
    const Ids& prompt = request.prompts[i];
    Request alone{.prompt = prompt,
                  .context = request.context,
                  .end_token = request.end_token,
                  .sampling = request.sampling};
    alone.sampling.seed = static_cast<std::int32_t>(
        static_cast<std::uint32_t>(request.sampling.seed) + static_cast<std::uint32_t>(i));
    require_prompt(model, alone);
    const StateBlock one = make_state(executor.device(), alone);
    one.set("rows", static_cast<std::int32_t>(prompt.size()));
    auto session = executor.begin({.name = "prefill", .state = one});
    record_prompt(session, sequence_of(model, static_cast<std::int64_t>(i)), prompt,
                  alone.sampling);
    batch.start(i, session.finish().read<std::int32_t>("next")[0]);
  }
  result.prefill_seconds = seconds_since(prefill_begin);

  const auto decode_begin = Clock::now();
  reprise::CapturedGraph graph;
  batch.send_tokens();
  const reprise::Tensor recent = batch.recent(executor.device());
  for (; batch.running(); ++result.steps) {
    batch.send_places(result.steps);
    if (graph) {
      graph.launch();
      batch.take(graph.read<std::int32_t>("next"));
      continue;
    }
    auto session = request.mode == Mode::direct
                       ? executor.begin({.name = "decode", .state = batch.state()})
                       : executor.begin_recorded({.name = "decode", .state = batch.state()});
    record_batch_step(session, model, request.sampling, recent);
    auto step = session.finish();
    batch.take(step.read<std::int32_t>("next"));
    graph = std::move(step.graph);
  }
  result.decode_seconds = seconds_since(decode_begin);
  result.ids = std::move(batch.ids());
  return result;
}

}  // namespace llama
