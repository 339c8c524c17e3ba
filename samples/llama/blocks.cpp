#include "samples/llama/blocks.h"

namespace llama {
using reprise::Recorder, reprise::Tensor;

namespace {

/// Rotated keys and their values go into the caches; each row sees those of its sequence.
Tensor attend(Recorder& s, const Model& m, const Layer& w, const Tensor& q, const Tensor& k,
              const Tensor& v) {
  if (m.sequences == 1) {
    const auto pos = s.state("pos");
    set_rows(s, w.k_cache, k, {.position = pos});
    set_rows(s, w.v_cache, v, {.position = pos});
    return attention(s, q, w.k_cache, w.v_cache, {.kv_len = s.state("kv_len")});
  }
  const auto slots = s.state_array("slots");
  set_rows(s, w.k_cache, k, slots);
  set_rows(s, w.v_cache, v, slots);
  const std::int64_t positions = w.k_cache.shape().dim(0) / m.sequences;
  for (std::int64_t i = 0; i < m.sequences; ++i) {
    const auto part = [&](const Tensor& cache) {
      return slice(s, cache, 0, i * positions, positions);
    };
    const auto y = attention(s, slice(s, q, 0, i, 1), part(w.k_cache), part(w.v_cache),
                             {.kv_len = s.state("kv_len." + std::to_string(i))});
    set_rows(s, m.attended, y, {.position = static_cast<std::int32_t>(i)});
  }
  return m.attended;
}

}  // namespace

Tensor attention_block(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("attn");
  const auto rows = x.shape().extent(0);
  const auto heads = [&](const Tensor& y, std::int64_t n) {
    return reshape(s, y, {rows, n, m.sizes.head_dim});
  };
  const auto normed = [&](const Tensor& y, const Tensor& weight) {
    return weight ? rms_norm(s, y, weight, {.eps = m.sizes.eps}) : y;
  };
  const auto positions = m.sequences > 1 ? s.state_array("positions") : Tensor();
  const reprise::RopeAttributes rotation{
      .position = m.sequences > 1 ? reprise::Param<std::int32_t>() : s.state("pos"),
      .base = m.sizes.rope_base,
      .scale = m.sizes.rope_scale,
      .dims = static_cast<std::int32_t>(m.sizes.rope_dims),
      .pairing = m.sizes.pairing,
      .positions = positions ? &positions : nullptr,
      .frequency_factors = m.rope_factors ? &m.rope_factors : nullptr};

  const auto h = rms_norm(s, x, w.attn_norm, {.eps = m.sizes.eps});
  auto q = heads(matmul(s, h, w.wq, w.bq), m.sizes.heads);
  auto k = heads(matmul(s, h, w.wk, w.bk), m.sizes.kv_heads);
  const auto v = heads(matmul(s, h, w.wv, w.bv), m.sizes.kv_heads);
  q = rope(s, normed(q, w.q_norm), rotation);
  k = rope(s, normed(k, w.k_norm), rotation);
  const auto y = attend(s, m, w, q, k, v);
  return add(s, x, matmul(s, reshape(s, y, {rows, m.sizes.heads * m.sizes.head_dim}), w.wo));
}

Tensor feed_forward(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ffn");
  const auto h = rms_norm(s, x, w.ffn_norm, {.eps = m.sizes.eps});
  return add(s, x, matmul(s, silu_mul(s, matmul(s, h, w.gate), matmul(s, h, w.up)), w.down));
}

Tensor mixture_of_experts(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ffn");
  const Experts& e = w.experts;
  const auto h = rms_norm(s, x, w.ffn_norm, {.eps = m.sizes.eps});
  const auto [ids, weights] = route_top_k(s, matmul(s, h, e.router),
                                          {.k = static_cast<std::int32_t>(m.sizes.experts_used)});
  const auto row = reshape(s, h, {x.shape().extent(0), 1, m.sizes.dim});
  const auto y =
      silu_mul(s, matmul_experts(s, row, e.gate, ids), matmul_experts(s, row, e.up, ids));
  return add(s, x, combine_experts(s, matmul_experts(s, y, e.down, ids), weights));
}

}  // namespace llama
