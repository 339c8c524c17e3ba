// Qwen2: biases of queries, keys and values; halves of a head are rotated together.
#include "samples/llama/archs/architecture.h"
#include "samples/llama/blocks.h"

namespace llama {

const Architecture& qwen2_architecture() {
  static const Architecture architecture{
      .name = "qwen2",
      .read =
          [](const Hyperparameters& keys, Sizes& sizes) {
            read_attention(keys, sizes);
            read_feed_forward(keys, sizes);
            sizes.pairing = reprise::RopePairing::half_split;
          },
      .load =
          [](const LayerTensors& tensors, const Sizes& sizes, Layer& layer) {
            tensors.attention(sizes, layer);
            tensors.feed_forward(sizes, layer);
          },
      .layer =
          [](reprise::Recorder& s, const Model& m, const Layer& w, const reprise::Tensor& x) {
            return feed_forward(s, m, w, attention_block(s, m, w, x));
          },
  };
  return architecture;
}

}  // namespace llama
