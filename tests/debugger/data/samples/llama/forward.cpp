#include "samples/llama/forward.h"

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

static Tensor attention_block(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("attn");
  const auto pos = s.state("pos");
  const auto rows = x.shape().extent(0);
  const auto heads = [&](const Tensor& y, std::int64_t n) {
    return reshape(s, y, {rows, n, m.sizes.head_dim});
  };
  const reprise::RopeAttributes rotation{
      .position = pos,
      .base = m.sizes.rope_base,
      .dims = static_cast<std::int32_t>(m.sizes.rope_dims),
      .frequency_factors = m.rope_factors ? &m.rope_factors : nullptr};

  const auto h = rms_norm(s, x, w.attn_norm, {.eps = m.sizes.eps});
  auto q = heads(matmul(s, h, w.wq), m.sizes.heads);
  auto k = heads(matmul(s, h, w.wk), m.sizes.kv_heads);
  const auto v = heads(matmul(s, h, w.wv), m.sizes.kv_heads);
  q = rope(s, q, rotation);
  k = rope(s, k, rotation);
  set_rows(s, w.k_cache, k, {.position = pos});
  set_rows(s, w.v_cache, v, {.position = pos});
  const auto y = attention(s, q, w.k_cache, w.v_cache, {.kv_len = s.state("kv_len")});
  return add(s, x, matmul(s, reshape(s, y, {rows, m.sizes.heads * m.sizes.head_dim}), w.wo));
}

static Tensor feed_forward(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ffn");
  const auto h = rms_norm(s, x, w.ffn_norm, {.eps = m.sizes.eps});
  return add(s, x, matmul(s, silu_mul(s, matmul(s, h, w.gate), matmul(s, h, w.up)), w.down));
}

Tensor forward(Recorder& s, const Model& m, Tensor x) {
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const auto scope = s.scope("layer", static_cast<std::int32_t>(i));
    x = attention_block(s, m, m.layers[i], x);
    x = feed_forward(s, m, m.layers[i], x);
  }
  const auto scope = s.scope("head");
  const bool one = x.shape() == reprise::Shape{1, m.sizes.dim};
  const auto last = one ? x : get_rows(s, x, s.state("last"));
  return matmul(s, rms_norm(s, last, m.norm, {.eps = m.sizes.eps}), m.head);
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
