// The decoder of the tutorial, written by hand: steps 3 to 6 use it.
#pragma once
#include "reprise/reprise.h"

namespace tutorial {
using reprise::Recorder, reprise::Tensor;

struct Sizes {
  std::int64_t layers, dim, hidden, heads, kv_heads, head_dim, vocabulary, context;
  float eps = 1e-5F, rope_base = 10000;
};

struct Layer {
  Tensor attn_norm, wq, wk, wv, wo;
  Tensor k_cache, v_cache;  // [context, kv_heads, head_dim]: a row per position
  Tensor ffn_norm, gate, up, down;
};

struct Model {
  Sizes sizes;
  Tensor embedding, norm, head;
  std::vector<Layer> layers{};
  /// Turns heads by position; empty: rope. Step 6 puts a kernel here.
  std::function<Tensor(Recorder&, const Tensor&)> rotate{};
};

/// pos: where the next token goes. token: that token. done: 1 after the end token.
inline reprise::StateLayout state_layout(const Sizes& sizes) {
  const auto last = static_cast<std::int32_t>(sizes.context) - 1;
  reprise::StateLayout layout;
  layout.carried("pos", 0, {.low = 0, .high = last}).carried("token").carried("done");
  return layout.stop_when("done");
}

inline Tensor attention_block(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("attn");
  const auto pos = s.state("pos");
  const std::int64_t rows = x.shape().dim(0);
  const auto heads = [&](const Tensor& y, std::int64_t n) {
    return reshape(s, y, {rows, n, m.sizes.head_dim});
  };
  const auto rotate = [&](const Tensor& y) {
    return m.rotate ? m.rotate(s, y) : rope(s, y, {.position = pos, .base = m.sizes.rope_base});
  };

  const Tensor h = rms_norm(s, x, w.attn_norm, {.eps = m.sizes.eps});
  const Tensor q = rotate(heads(matmul(s, h, w.wq), m.sizes.heads));
  const Tensor k = rotate(heads(matmul(s, h, w.wk), m.sizes.kv_heads));
  const Tensor v = heads(matmul(s, h, w.wv), m.sizes.kv_heads);
  set_rows(s, w.k_cache, k, {.position = pos});
  set_rows(s, w.v_cache, v, {.position = pos});
  const Tensor y = attention(s, q, w.k_cache, w.v_cache, {.past = pos});
  return add(s, x, matmul(s, reshape(s, y, {rows, m.sizes.dim}), w.wo));
}

inline Tensor feed_forward(Recorder& s, const Model& m, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ffn");
  const Tensor h = rms_norm(s, x, w.ffn_norm, {.eps = m.sizes.eps});
  const Tensor gate = matmul(s, h, w.gate);
  const Tensor up = matmul(s, h, w.up);
  return add(s, x, matmul(s, silu_mul(s, gate, up), w.down));
}

/// x: [rows, dim], embedded tokens at pos, pos + 1, ... Returns the token after them.
inline Tensor next_token(Recorder& s, const Model& m, Tensor x, std::int32_t end_token = -1) {
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const auto scope = s.scope("layer", static_cast<std::int32_t>(i));
    x = attention_block(s, m, m.layers[i], x);
    x = feed_forward(s, m, m.layers[i], x);
  }
  const auto scope = s.scope("head");
  const Tensor last = slice(s, x, 0, x.shape().dim(0) - 1, 1);
  const Tensor h = rms_norm(s, last, m.norm, {.eps = m.sizes.eps});
  Tensor next = argmax(s, matmul(s, h, m.head));
  advance(s, next,
          {.position = s.state("pos"),
           .token = s.state("token"),
           .done = s.state("done"),
           .rows = x.shape().extent(0),
           .end_token = end_token});
  return next;
}

/// One decode step: the token of the state goes in, the next one comes out.
inline void decode_step(reprise::GraphSession& s, const Model& m, std::int32_t end_token = -1) {
  s.output("next", next_token(s, m, get_rows(s, m.embedding, s.state("token")), end_token));
}

}  // namespace tutorial
