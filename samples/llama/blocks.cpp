#include "samples/llama/blocks.h"

namespace llama {
using reprise::Recorder, reprise::Tensor;

namespace {

Tensor normed(Recorder& s, const Model& m, const Tensor& x, const Tensor& weight) {
  return weight ? rms_norm(s, x, weight, {.eps = m.sizes.eps}) : x;
}

/// Rotated keys and their values go into the caches; each row sees those of its sequence.
Tensor attend(Recorder& s, const Model& m, const Layer& w, const Tensor& q, const Tensor& k,
              const Tensor& v) {
  const auto see = [&](const Tensor& row, const Tensor& keys, const Tensor& values,
                       reprise::AttentionAttributes a) {
    a.scale = m.sizes.attention_scale;
    a.softcap = m.sizes.attention_cap;
    a.window = static_cast<std::int32_t>(w.window);
    return attention(s, row, keys, values, a);
  };
  if (m.sequences == 1) {
    const auto pos = s.state("pos");
    set_rows(s, w.k_cache, k, {.position = pos});
    set_rows(s, w.v_cache, v, {.position = pos});
    return see(q, w.k_cache, w.v_cache, {.past = pos});
  }
  const auto slots = s.state_array("slots");
  set_rows(s, w.k_cache, k, slots);
  set_rows(s, w.v_cache, v, slots);
  const std::int64_t positions = w.k_cache.shape().dim(0) / m.sequences;
  for (std::int64_t i = 0; i < m.sequences; ++i) {
    const auto part = [&](const Tensor& cache) {
      return slice(s, cache, 0, i * positions, positions);
    };
    const auto y = see(slice(s, q, 0, i, 1), part(w.k_cache), part(w.v_cache),
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
  const auto positions = m.sequences > 1 ? s.state_array("positions") : Tensor();
  const reprise::RopeAttributes rotation{
      .position = m.sequences > 1 ? reprise::Param<std::int32_t>() : s.state("pos"),
      .base = m.sizes.rope_base,
      .scale = m.sizes.rope_scale,
      .dims = static_cast<std::int32_t>(m.sizes.rope_dims),
      .pairing = m.sizes.pairing,
      .positions = positions,
      .frequency_factors = m.rope_factors};

  const auto h = rms_norm(s, x, w.attn_norm, {.eps = m.sizes.eps});
  auto q = heads(matmul(s, h, w.wq, w.bq), m.sizes.heads);
  auto k = heads(matmul(s, h, w.wk, w.bk), m.sizes.kv_heads);
  const auto v = heads(matmul(s, h, w.wv, w.bv), m.sizes.kv_heads);
  q = rope(s, normed(s, m, q, w.q_norm), rotation);
  k = rope(s, normed(s, m, k, w.k_norm), rotation);
  const auto y = attend(s, m, w, q, k, v);
  const auto o = matmul(s, reshape(s, y, {rows, m.sizes.heads * m.sizes.head_dim}), w.wo);
  return add(s, x, normed(s, m, o, w.attn_post_norm));
}

Tensor feed_forward(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ffn");
  const auto h = rms_norm(s, x, w.ffn_norm, {.eps = m.sizes.eps});
  const auto gate = matmul(s, h, w.gate);
  const auto up = matmul(s, h, w.up);
  const auto y = m.sizes.gelu ? gelu_mul(s, gate, up) : silu_mul(s, gate, up);
  return add(s, x, normed(s, m, matmul(s, y, w.down), w.ffn_post_norm));
}

Tensor mixture_of_experts(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ffn");
  const Experts& e = w.experts;
  const auto h = rms_norm(s, x, w.ffn_norm, {.eps = m.sizes.eps});
  const auto routed = route_top_k(s, matmul(s, h, e.router),
                                  {.k = static_cast<std::int32_t>(m.sizes.experts_used)});
  const auto row = reshape(s, h, {x.shape().extent(0), 1, m.sizes.dim});
  const auto products = [&](const auto& matmul) {
    const auto up = matmul(row, "up", e.up);
    return matmul(silu_mul(s, matmul(row, "gate", e.gate), up), "down", e.down);
  };
  const auto y = m.place_experts
                     ? m.place_experts(e.layer, routed.ids,
                                       [&](const reprise::PlacedExperts& placed) {
                                         return products([&](const Tensor& in, const char* name,
                                                             const Tensor&) {
                                           return placed.matmul(s, in, name);
                                         });
                                       })
                     : products([&](const Tensor& in, const char*, const Tensor& weight) {
                         return matmul_experts(s, in, weight, routed.ids);
                       });
  return add(s, x, combine_experts(s, y, routed.weights));
}

Tensor state_space(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ssm");
  const StateSpace& p = w.ssm;
  const std::int64_t inner = m.sizes.inner, state = m.sizes.state, rank = m.sizes.step_rank;
  const auto rows = x.shape().extent(0);
  // Of several sequences each has one token: a dimension of tokens behind that of sequences.
  const bool several = m.sequences > 1;
  const auto past = several ? reprise::Param<std::int32_t>(1) : s.state("pos");
  const auto per_token = [&](const Tensor& y, std::int64_t columns) {
    return several ? reshape(s, y, {rows, 1, columns}) : y;
  };
  const auto per_group = [&](const Tensor& y, std::int64_t groups, std::int64_t columns) {
    return several ? reshape(s, y, {rows, 1, groups, columns})
                   : reshape(s, y, {rows, groups, columns});
  };

  const auto h = rms_norm(s, x, w.attn_norm, {.eps = m.sizes.eps});
  const auto in = matmul(s, h, p.in);
  const auto left = slice(s, per_token(in, 2 * inner), several ? 2 : 1, 0, inner);
  const auto u =
      reshape(s, silu(s, ssm_conv(s, p.conv_state, left, p.conv, p.conv_bias, {}, {.past = past})),
              {rows, inner});
  const auto chosen = matmul(s, u, p.x);
  const auto step = matmul(s, slice(s, chosen, 1, 0, rank), p.step, p.step_bias);
  const auto group = per_group(chosen, 1, rank + 2 * state);
  const std::size_t last = several ? 3 : 2;
  const auto y = ssm_scan(s, p.state,
                          {.x = per_group(u, inner, 1),
                           .dt = per_token(step, inner),
                           .a = p.a,
                           .b = slice(s, group, last, rank, state),
                           .c = slice(s, group, last, rank + state, state)},
                          {}, {.past = past});
  const auto skipped = add(s, reshape(s, y, {rows, inner}), mul(s, u, p.d));
  return add(s, x, matmul(s, silu_mul(s, slice(s, in, 1, inner, inner), skipped), p.out));
}

}  // namespace llama
