// A model from a GGUF file: sizes, weights, and what its sequences leave between passes.
#pragma once
#include <functional>
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
  // Gemma. Caps of 0: none; a scale of 0: 1 / sqrt(head_dim).
  bool gelu = false;  // gates the feed-forward part, not silu
  float embedding_scale = 1, attention_scale = 0;
  float attention_cap = 0, logit_cap = 0;
  std::int64_t window = 0;  // positions that layers with a window see
  // State spaces.
  std::int64_t inner = 0, conv_width = 0, state = 0, step_rank = 0;
};

/// Throws unsupported for another architecture, naming it and those there are; invalid_argument for
/// a value that is missing or makes no sense, naming its key.
Sizes sizes_of(const reprise::GgufFile& file);

/// The feed-forward part of a layer as experts, of which a router picks some for each row.
struct Experts {
  reprise::Tensor router;  // [experts, dim]
  // [experts, expert_ffn, dim] twice, [experts, dim, expert_ffn]; empty where a store has them
  reprise::Tensor gate, up, down;
  std::string layer{};  // its name in that store
};

/// Mamba: what the place of attention and of the feed-forward part has.
struct StateSpace {
  reprise::Tensor in, out;             // [2 * inner, dim], [dim, inner]
  reprise::Tensor conv, conv_bias;     // [inner, conv_width], [inner]
  reprise::Tensor x, step, step_bias;  // [step_rank + 2 * state, inner], [inner, step_rank]
  reprise::Tensor a, d;                // [inner, state], [inner]
  reprise::Tensor conv_state, state;   // [sequences, inner, conv_width - 1], [.., 1, state]
};

/// What an architecture does not have is empty.
struct Layer {
  reprise::Tensor attn_norm, wq, wk, wv, wo;          // [dim], [heads * head_dim, dim], ...
  reprise::Tensor ffn_norm, gate, up, down;           // [dim], [ffn, dim], [ffn, dim], [dim, ffn]
  reprise::Tensor k_cache, v_cache;                   // [positions, kv_heads, head_dim]
  reprise::Tensor bq{}, bk{}, bv{};                   // biases of wq, wk, wv
  reprise::Tensor q_norm{}, k_norm{};                 // [head_dim]
  reprise::Tensor attn_post_norm{}, ffn_post_norm{};  // [dim], of what is added to the stream
  std::int64_t window = 0;                            // a row sees so many positions; 0: all
  Experts experts{};
  StateSpace ssm{};
};

struct Model {
  Sizes sizes;
  std::vector<Layer> layers;
  reprise::Tensor embedding, norm, head;  // [vocabulary, dim], [dim], [vocabulary, dim]
  reprise::Tensor rope_factors;           // [rope_dims / 2], empty without
  WeightBytes weight_bytes;
  const Architecture* architecture = nullptr;  // null: llama
  std::int64_t context = 0;                    // positions of a sequence
  /// 1: rows of a pass are tokens of one sequence, one after another. More: row i is the next token
  /// of sequence i, whose keys and values have the i-th part of the caches.
  std::int64_t sequences = 1;
  reprise::Tensor attended{};  // [sequences, heads, head_dim], what each sees; of several ones
  /// Experts of which the device has some at a time; empty: it has all.
  reprise::ExpertStore expert_store{};
  /// GraphSession::experts of the session that records, where there is a store.
  std::function<reprise::Tensor(const std::string& layer, const reprise::Tensor& ids,
                                const reprise::ExpertFunction& f)>
      place_experts{};
};

enum class ExpertWeights : std::uint8_t { on_device, in_store };

struct ModelOptions {
  std::int64_t sequences = 1;
  ExpertWeights experts = ExpertWeights::on_device;
  reprise::DType cache = reprise::DType::f32;  // of keys and values: f32, f16 or q8_0
};

/// `context` positions are allocated for the cache of each sequence. Throws invalid_argument for a
/// store where the model has no experts, and for heads that are no whole blocks of the cache.
Model load_model(const reprise::Device& device, const reprise::GgufFile& file, std::int64_t context,
                 const ModelOptions& options = {});

/// The same weights with what one of the sequences leaves.
Model sequence_of(const Model& model, std::int64_t index);

}  // namespace llama
