// Gemma: embeddings scaled by the square root of the width, a feed-forward part gated by gelu, the
// embedding as head. Weights of norms are stored with the 1 that the model adds to them.
// Gemma 2 also normalises what each block adds, caps scores and logits, and lets every other layer,
// the first one too, see a window of positions alone.
// Source: Gemma Team 2024, "Gemma" and "Gemma 2".
#include <cmath>
#include <limits>

#include "samples/llama/archs/architecture.h"
#include "samples/llama/blocks.h"

namespace llama {
namespace {

constexpr std::int64_t kWindow = 4096;
constexpr float kAttentionCap = 50, kLogitCap = 30;
constexpr std::int64_t kLayersOf27B = 46;

void read_gemma(const Hyperparameters& keys, Sizes& sizes) {
  read_attention(keys, sizes);
  read_feed_forward(keys, sizes);
  sizes.pairing = reprise::RopePairing::half_split;
  sizes.gelu = true;
  sizes.embedding_scale = std::sqrt(static_cast<float>(sizes.dim));
}

void load_gemma(const LayerTensors& tensors, const Sizes& sizes, Layer& layer) {
  tensors.attention(sizes, layer);
  tensors.feed_forward(sizes, layer);
}

reprise::Tensor gemma_layer(reprise::Recorder& s, const Model& m, const Layer& w,
                            const reprise::Tensor& x) {
  return feed_forward(s, m, w, attention_block(s, m, w, x));
}

}  // namespace

const Architecture& gemma_architecture() {
  static const Architecture architecture{
      .name = "gemma", .read = read_gemma, .load = load_gemma, .layer = gemma_layer};
  return architecture;
}

const Architecture& gemma2_architecture() {
  static const Architecture architecture{
      .name = "gemma2",
      .read =
          [](const Hyperparameters& keys, Sizes& sizes) {
            constexpr float kLeast = std::numeric_limits<float>::min();
            constexpr float kMost = std::numeric_limits<float>::max();
            read_gemma(keys, sizes);
            sizes.window = keys.count_or("attention.sliding_window", kWindow);
            sizes.attention_cap =
                keys.real_or("attn_logit_softcapping", kAttentionCap, kLeast, kMost);
            sizes.logit_cap = keys.real_or("final_logit_softcapping", kLogitCap, kLeast, kMost);
            if (sizes.layers == kLayersOf27B) {  // its heads are narrower than its width would say
              const std::int64_t dim = sizes.dim / sizes.heads;
              sizes.attention_scale = 1 / std::sqrt(static_cast<float>(dim));
            }
          },
      .load =
          [](const LayerTensors& tensors, const Sizes& sizes, Layer& layer) {
            load_gemma(tensors, sizes, layer);
            layer.attn_post_norm = tensors.get("post_attention_norm.weight", {sizes.dim});
            layer.ffn_post_norm = tensors.get("post_ffw_norm.weight", {sizes.dim});
            layer.window = tensors.index() % 2 == 0 ? sizes.window : 0;
          },
      .layer = gemma_layer,
  };
  return architecture;
}

}  // namespace llama
