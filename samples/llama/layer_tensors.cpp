#include "samples/llama/layer_tensors.h"

namespace llama {
using reprise::Shape, reprise::Tensor;

namespace {

std::string prefix(std::int64_t layer) { return "blk." + std::to_string(layer) + "."; }

/// In a store of experts.
std::string layer_name(std::int64_t layer) { return "layer." + std::to_string(layer); }

}  // namespace

Tensor LayerTensors::get(const std::string& name, const Shape& shape) const {
  return weights_.get(prefix(index_) + name, shape);
}

Tensor LayerTensors::find(const std::string& name, const Shape& shape) const {
  return weights_.find(prefix(index_) + name) ? get(name, shape) : Tensor();
}

Tensor LayerTensors::expert(const std::string& projection, const Shape& shape) const {
  return weights_.expert(prefix(index_) + "ffn_" + projection + "_exps.weight", shape,
                         layer_name(index_), projection);
}

Tensor LayerTensors::zeros(const char* name, const Shape& shape, reprise::DType type) const {
  return device_.zeros(shape, type, prefix(index_) + name);
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
  const Shape cache{options_.sequences * positions_, s.kv_heads, s.head_dim};
  w.k_cache = zeros("k_cache", cache, options_.cache);
  w.v_cache = zeros("v_cache", cache, options_.cache);
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
  w.experts.layer = layer_name(index_);
  w.experts.gate = expert("gate", {s.experts, s.expert_ffn, s.dim});
  w.experts.up = expert("up", {s.experts, s.expert_ffn, s.dim});
  w.experts.down = expert("down", {s.experts, s.dim, s.expert_ffn});
}

void LayerTensors::state_space(const Sizes& s, Layer& w) const {
  w.attn_norm = get("attn_norm.weight", {s.dim});
  w.ssm = {.in = get("ssm_in.weight", {2 * s.inner, s.dim}),
           .out = get("ssm_out.weight", {s.dim, s.inner}),
           .conv = get("ssm_conv1d.weight", {s.inner, s.conv_width}),
           .conv_bias = get("ssm_conv1d.bias", {s.inner}),
           .x = get("ssm_x.weight", {s.step_rank + 2 * s.state, s.inner}),
           .step = get("ssm_dt.weight", {s.inner, s.step_rank}),
           .step_bias = get("ssm_dt.bias", {s.inner}),
           .a = get("ssm_a", {s.inner, s.state}),
           .d = get("ssm_d", {s.inner}),
           .conv_state = zeros("conv_state", {options_.sequences, s.inner, s.conv_width - 1}),
           .state = zeros("ssm_state", {options_.sequences, s.inner, 1, s.state})};
}

}  // namespace llama
