#include "samples/llama/forward.h"

#include "samples/llama/archs/architecture.h"

namespace llama {
using reprise::field, reprise::Recorder, reprise::Tensor;

reprise::StateLayout state_layout(std::int32_t end_token, std::int32_t context) {
  return reprise::StateLayout()
      .host("rows", 1)
      .host("end_token", end_token)
      .carried("pos")
      .carried("token")
      .carried("done")
      .derived("kv_len", field("pos") + field("rows"), {.low = 0, .high = context})
      .derived("last", field("rows") + -1)
      .stop_when("done");
}

/// The residual stream of all rows after the last layer.
static Tensor layers(Recorder& s, const Model& m, Tensor x) {
  const Architecture& architecture =
      m.architecture == nullptr ? llama_architecture() : *m.architecture;
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const auto scope = s.scope("layer", static_cast<std::int32_t>(i));
    x = architecture.layer(s, m, m.layers[i], x);
  }
  return x;
}

static Tensor logits_of(Recorder& s, const Model& m, const Tensor& x) {
  return matmul(s, rms_norm(s, x, m.norm, {.eps = m.sizes.eps}), m.head);
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

Tensor choose(Recorder& s, const Tensor& logits) {
  const auto scope = s.scope("choose");
  auto next = argmax(s, logits);
  advance(s, next,
          {.position = s.state("pos"),
           .token = s.state("token"),
           .done = s.state("done"),
           .rows = s.state("rows"),
           .end_token = s.state("end_token")});
  return next;
}

}  // namespace llama
