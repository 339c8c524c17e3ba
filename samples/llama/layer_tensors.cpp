#include "samples/llama/layer_tensors.h"

namespace llama {
using reprise::Shape, reprise::Tensor;

namespace {

std::string prefix(std::int64_t layer) { return "blk." + std::to_string(layer) + "."; }

}  // namespace

Tensor LayerTensors::get(const std::string& name, const Shape& shape) const {
  return weights_.get(prefix(index_) + name, shape);
}

Tensor LayerTensors::find(const std::string& name, const Shape& shape) const {
  return weights_.find(prefix(index_) + name) ? get(name, shape) : Tensor();
}

void LayerTensors::attention(const Sizes& s, Layer& w) const {
  const std::int64_t q = s.heads * s.head_dim;
  const std::int64_t kv = s.kv_heads * s.head_dim;
  w.attn_norm = get("attn_norm.weight", {s.dim});
  w.wq = get("attn_q.weight", {q, s.dim});
  w.wk = get("attn_k.weight", {kv, s.dim});
  w.wv = get("attn_v.weight", {kv, s.dim});
  w.wo = get("attn_output.weight", {s.dim, q});
  w.bq = find("attn_q.bias", {q});
  w.bk = find("attn_k.bias", {kv});
  w.bv = find("attn_v.bias", {kv});
  const auto cache = [&](const char* name) {
    return device_.zeros({positions_, s.kv_heads, s.head_dim}, reprise::DType::f32,
                         prefix(index_) + name);
  };
  w.k_cache = cache("k_cache");
  w.v_cache = cache("v_cache");
}

void LayerTensors::feed_forward(const Sizes& s, Layer& w) const {
  w.ffn_norm = get("ffn_norm.weight", {s.dim});
  w.gate = get("ffn_gate.weight", {s.ffn, s.dim});
  w.up = get("ffn_up.weight", {s.ffn, s.dim});
  w.down = get("ffn_down.weight", {s.dim, s.ffn});
}

void LayerTensors::experts(const Sizes& s, Layer& w) const {
  w.ffn_norm = get("ffn_norm.weight", {s.dim});
  w.experts.router = get("ffn_gate_inp.weight", {s.experts, s.dim});
  w.experts.gate = get("ffn_gate_exps.weight", {s.experts, s.expert_ffn, s.dim});
  w.experts.up = get("ffn_up_exps.weight", {s.experts, s.expert_ffn, s.dim});
  w.experts.down = get("ffn_down_exps.weight", {s.experts, s.dim, s.expert_ffn});
}

}  // namespace llama
