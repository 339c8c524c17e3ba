// Llama, and what has its shape: Mistral, SmolLM, TinyLlama. With experts it is Mixtral.
#include "samples/llama/archs/architecture.h"
#include "samples/llama/blocks.h"

namespace llama {

const Architecture& llama_architecture() {
  static const Architecture architecture{
      .name = "llama",
      .read =
          [](const Hyperparameters& keys, Sizes& sizes) {
            read_attention(keys, sizes);
            if (keys.has("expert_count")) {
              read_experts(keys, sizes, "feed_forward_length");
            } else {
              read_feed_forward(keys, sizes);
            }
          },
      .load =
          [](const LayerTensors& tensors, const Sizes& sizes, Layer& layer) {
            tensors.attention(sizes, layer);
            sizes.experts > 0 ? tensors.experts(sizes, layer) : tensors.feed_forward(sizes, layer);
          },
      .layer =
          [](reprise::Recorder& s, const Model& m, const Layer& w, const reprise::Tensor& x) {
            const auto y = attention_block(s, m, w, x);
            return m.sizes.experts > 0 ? mixture_of_experts(s, m, w, y) : feed_forward(s, m, w, y);
          },
  };
  return architecture;
}

}  // namespace llama
