// The weights of the decoder from a GGUF file of the llama family.
#pragma once
#include <string>

#include "decoder.h"
#include "reprise/formats/gguf.h"

namespace tutorial {

inline Model load_model(const reprise::Device& device, const reprise::GgufFile& file,
                        std::int64_t context) {
  const auto number = [&](const char* key) {
    return file.value(std::string("llama.") + key).as_integer(1, 1 << 20);
  };
  const auto real = [&](const char* key, float otherwise) {
    const reprise::GgufValue* const value = file.find_value(std::string("llama.") + key);
    return value ? static_cast<float>(value->as_real()) : otherwise;
  };
  const auto weight = [&](const std::string& name) {
    const reprise::GgufTensor& t = file.tensor(name);
    return device.from_host(t.shape, t.require_dtype(), t.data, name);
  };

  Model m;
  Sizes& z = m.sizes;
  z.layers = number("block_count");
  z.dim = number("embedding_length");
  z.hidden = number("feed_forward_length");
  z.heads = number("attention.head_count");
  z.kv_heads = number("attention.head_count_kv");
  z.head_dim = z.dim / z.heads;
  z.context = context;
  z.eps = real("attention.layer_norm_rms_epsilon", z.eps);
  z.rope_base = real("rope.freq_base", z.rope_base);
  m.embedding = weight("token_embd.weight");
  z.vocabulary = m.embedding.shape().dim(0);
  m.norm = weight("output_norm.weight");
  m.head = file.find("output.weight") ? weight("output.weight") : m.embedding;
  for (std::int64_t i = 0; i < z.layers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    const auto cache = [&](const char* name) {
      return device.zeros({z.context, z.kv_heads, z.head_dim}, reprise::DType::f32, layer + name);
    };
    m.layers.push_back({.attn_norm = weight(layer + "attn_norm.weight"),
                        .wq = weight(layer + "attn_q.weight"),
                        .wk = weight(layer + "attn_k.weight"),
                        .wv = weight(layer + "attn_v.weight"),
                        .wo = weight(layer + "attn_output.weight"),
                        .k_cache = cache("k_cache"),
                        .v_cache = cache("v_cache"),
                        .ffn_norm = weight(layer + "ffn_norm.weight"),
                        .gate = weight(layer + "ffn_gate.weight"),
                        .up = weight(layer + "ffn_up.weight"),
                        .down = weight(layer + "ffn_down.weight")});
  }
  return m;
}

}  // namespace tutorial
