// A Llama-architecture model: sizes, weights, key-value cache.
#pragma once
#include <vector>

#include "reprise/formats/gguf.h"
#include "reprise/reprise.h"
#include "samples/llama/weights.h"

namespace llama {

struct Sizes {
  std::int64_t layers, dim, ffn, heads, kv_heads, head_dim, rope_dims, vocabulary;
  std::int64_t context;  // positions the model was trained for
  float eps, rope_base;
};

/// Throws unsupported for another architecture, naming it; invalid_argument for inconsistent sizes.
Sizes sizes_of(const reprise::GgufFile& file);

struct Layer {
  reprise::Tensor attn_norm, wq, wk, wv, wo;  // [dim], [heads * head_dim, dim], ...
  reprise::Tensor ffn_norm, gate, up, down;   // [dim], [ffn, dim], [ffn, dim], [dim, ffn]
  reprise::Tensor k_cache, v_cache;           // [context, kv_heads, head_dim] f32
};

struct Model {
  Sizes sizes;
  std::vector<Layer> layers;
  reprise::Tensor embedding, norm, head;  // [vocabulary, dim], [dim], [vocabulary, dim]
  reprise::Tensor rope_factors;           // [rope_dims / 2], empty without
  WeightBytes weight_bytes;
};

/// `context` positions are allocated for the cache.
Model load_model(const reprise::Device& device, const reprise::GgufFile& file,
                 std::int64_t context);

}  // namespace llama
