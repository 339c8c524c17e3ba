// Qwen3: queries and keys are normalised head by head before they are rotated; halves of a head
// are rotated together. qwen3moe is the same with experts in the place of the feed-forward part.
// Source: Qwen Team 2025, "Qwen3 Technical Report".
#include "samples/llama/archs/architecture.h"
#include "samples/llama/blocks.h"

namespace llama {
namespace {

void read_heads(const Hyperparameters& keys, Sizes& sizes) {
  read_attention(keys, sizes);
  sizes.pairing = reprise::RopePairing::half_split;
}

void load_heads(const LayerTensors& tensors, const Sizes& sizes, Layer& layer) {
  tensors.attention(sizes, layer);
  layer.q_norm = tensors.get("attn_q_norm.weight", {sizes.head_dim});
  layer.k_norm = tensors.get("attn_k_norm.weight", {sizes.head_dim});
}

}  // namespace

const Architecture& qwen3_architecture() {
  static const Architecture architecture{
      .name = "qwen3",
      .read =
          [](const Hyperparameters& keys, Sizes& sizes) {
            read_heads(keys, sizes);
            read_feed_forward(keys, sizes);
          },
      .load =
          [](const LayerTensors& tensors, const Sizes& sizes, Layer& layer) {
            load_heads(tensors, sizes, layer);
            tensors.feed_forward(sizes, layer);
          },
      .layer =
          [](reprise::Recorder& s, const Model& m, const Layer& w, const reprise::Tensor& x) {
            return feed_forward(s, m, w, attention_block(s, m, w, x));
          },
  };
  return architecture;
}

const Architecture& qwen3moe_architecture() {
  static const Architecture architecture{
      .name = "qwen3moe",
      .read =
          [](const Hyperparameters& keys, Sizes& sizes) {
            read_heads(keys, sizes);
            read_experts(keys, sizes, "expert_feed_forward_length");
          },
      .load =
          [](const LayerTensors& tensors, const Sizes& sizes, Layer& layer) {
            load_heads(tensors, sizes, layer);
            tensors.experts(sizes, layer);
          },
      .layer =
          [](reprise::Recorder& s, const Model& m, const Layer& w, const reprise::Tensor& x) {
            return mixture_of_experts(s, m, w, attention_block(s, m, w, x));
          },
  };
  return architecture;
}

}  // namespace llama
