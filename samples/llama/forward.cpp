#include "samples/llama/forward.h"

#include "samples/llama/archs/architecture.h"

namespace llama {
using reprise::field, reprise::Recorder, reprise::Tensor;

std::vector<std::int32_t> recent_tokens(std::span<const std::int32_t> tokens) {
  std::vector<std::int32_t> ring(kRecentTokens, -1);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    ring[i % ring.size()] = tokens[i];
  }
  return ring;
}

reprise::StateLayout state_layout(std::int32_t end_token, std::int32_t context,
                                  const Sampling& sampling) {
  reprise::StateLayout layout;
  layout.host("rows", 1)
      .host("end_token", end_token)
      .carried("pos")
      .carried("token")
      .carried("done")
      .derived("kv_len", field("pos") + field("rows"), {.low = 0, .high = context})
      .derived("last", field("rows") + -1)
      .stop_when("done");
  if (sampling.penalises()) {
    layout.carried_array("recent", kRecentTokens);
  }
  return layout;
}

/// The residual stream of all rows after the last layer.
static Tensor layers(Recorder& s, const Model& m, Tensor x) {
  const Architecture& architecture =
      m.architecture == nullptr ? llama_architecture() : *m.architecture;
  if (m.sizes.embedding_scale != 1) {
    x = scale(s, x, {.scale = m.sizes.embedding_scale});
  }
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const auto scope = s.scope("layer", static_cast<std::int32_t>(i));
    x = architecture.layer(s, m, m.layers[i], x);
  }
  return x;
}

static Tensor logits_of(Recorder& s, const Model& m, const Tensor& x) {
  const auto y = matmul(s, rms_norm(s, x, m.norm, {.eps = m.sizes.eps}), m.head);
  return m.sizes.logit_cap > 0 ? softcap(s, y, {.cap = m.sizes.logit_cap}) : y;
}

Tensor forward(Recorder& s, const Model& m, const Tensor& x) {
  const auto y = layers(s, m, x);
  const auto scope = s.scope("head");
  const bool one = y.shape() == reprise::Shape{1, m.sizes.dim};
  return logits_of(s, m, one ? y : get_rows(s, y, s.state("last")));
}

Tensor forward_all(Recorder& s, const Model& m, const Tensor& x) {
  const auto y = layers(s, m, x);
  const auto scope = s.scope("head");
  return logits_of(s, m, y);
}

Tensor draw(Recorder& s, const Tensor& logits, const Sampling& sampling,
            const reprise::StateField& position, const Tensor& recent) {
  if (sampling.greedy()) {
    return argmax(s, logits);
  }
  return sample(s, logits,
                {.temperature = sampling.temperature,
                 .top_k = sampling.top_k,
                 .top_p = sampling.top_p,
                 .min_p = sampling.min_p,
                 .repetition_penalty = sampling.repeat_penalty,
                 .seed = sampling.seed,
                 .position = position,
                 .recent = recent});
}

Tensor choose(Recorder& s, const Tensor& logits, const Sampling& sampling) {
  const auto scope = s.scope("choose");
  const auto place = s.state("kv_len");  // of the token to come
  const auto recent = sampling.penalises() ? s.state_array("recent") : Tensor();
  auto next = draw(s, logits, sampling, place, recent);
  if (recent) {
    set_rows(s, recent, next, {.position = place, .window = kRecentTokens});
  }
  advance(s, next,
          {.position = s.state("pos"),
           .token = s.state("token"),
           .done = s.state("done"),
           .rows = s.state("rows"),
           .end_token = s.state("end_token")});
  return next;
}

}  // namespace llama
