// A model from a GGUF file: sizes, weights, and what its sequences leave between passes.
#pragma once
#include <vector>

#include "reprise/formats/gguf.h"
#include "reprise/reprise.h"
#include "samples/llama/weights.h"

namespace llama {

struct Architecture;

struct Sizes {
  std::int64_t layers, dim, ffn, heads, kv_heads, head_dim, rope_dims, vocabulary;
  std::int64_t context;  // positions the model was trained for
  float eps, rope_base;
  float rope_scale = 1;  // of all angles
  reprise::RopePairing pairing = reprise::RopePairing::interleaved;
  // A mixture of experts; 0 experts: none.
  std::int64_t experts = 0, experts_used = 0, expert_ffn = 0;
};

/// Throws unsupported for another architecture, naming it and those there are; invalid_argument for
/// a value that is missing or makes no sense, naming its key.
Sizes sizes_of(const reprise::GgufFile& file);

/// The feed-forward part of a layer as experts, of which a router picks some for each row.
struct Experts {
  reprise::Tensor router;          // [experts, dim]
  reprise::Tensor gate, up, down;  // [experts, expert_ffn, dim] twice, [experts, dim, expert_ffn]
};

/// What an architecture does not have is empty.
struct Layer {
  reprise::Tensor attn_norm, wq, wk, wv, wo;  // [dim], [heads * head_dim, dim], ...
  reprise::Tensor ffn_norm, gate, up, down;   // [dim], [ffn, dim], [ffn, dim], [dim, ffn]
  reprise::Tensor k_cache, v_cache;           // [positions, kv_heads, head_dim] f32
  reprise::Tensor bq{}, bk{}, bv{};           // biases of wq, wk, wv
  reprise::Tensor q_norm{}, k_norm{};         // [head_dim]
  Experts experts{};
};

struct Model {
  Sizes sizes;
  std::vector<Layer> layers;
  reprise::Tensor embedding, norm, head;  // [vocabulary, dim], [dim], [vocabulary, dim]
  reprise::Tensor rope_factors;           // [rope_dims / 2], empty without
  WeightBytes weight_bytes;
  const Architecture* architecture = nullptr;  // null: llama
  /// 1: rows of a pass are tokens of one sequence, one after another. More: row i is the next token
  /// of sequence i, whose keys and values have the i-th part of the caches.
  std::int64_t sequences = 1;
  reprise::Tensor attended{};  // [sequences, heads, head_dim], what each sees; of several ones
};

/// `context` positions are allocated for the cache of each sequence.
Model load_model(const reprise::Device& device, const reprise::GgufFile& file, std::int64_t context,
                 std::int64_t sequences = 1);

/// The same weights with what one of the sequences leaves.
Model sequence_of(const Model& model, std::int64_t index);

}  // namespace llama
