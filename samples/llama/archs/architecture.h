// What makes an architecture: the keys it reads, the tensors of a layer, what a layer computes. A
// new one is a file here and a line in architecture.cpp; docs/architectures.md says how.
#pragma once
#include <span>

#include "samples/llama/hyperparameters.h"
#include "samples/llama/layer_tensors.h"
#include "samples/llama/model.h"

namespace llama {

struct Architecture {
  std::string_view name;  // in "general.architecture"
  /// Everything but the number of layers, the width, the context and the vocabulary.
  void (*read)(const Hyperparameters& keys, Sizes& sizes);
  void (*load)(const LayerTensors& tensors, const Sizes& sizes, Layer& layer);
  /// x: [rows, dim], and so is the result.
  reprise::Tensor (*layer)(reprise::Recorder& s, const Model& m, const Layer& w,
                           const reprise::Tensor& x);
};

const Architecture& gemma_architecture();
const Architecture& gemma2_architecture();
const Architecture& llama_architecture();
const Architecture& mamba_architecture();
const Architecture& qwen2_architecture();
const Architecture& qwen3_architecture();
const Architecture& qwen3moe_architecture();

std::span<const Architecture* const> architectures();
/// Throws unsupported for a name that none has, naming those there are.
const Architecture& architecture_named(std::string_view name);

/// What all architectures with attention read: heads and their rotation.
void read_attention(const Hyperparameters& keys, Sizes& sizes);
void read_feed_forward(const Hyperparameters& keys, Sizes& sizes);
/// `width`: the key of the width of one expert.
void read_experts(const Hyperparameters& keys, Sizes& sizes, std::string_view width);

}  // namespace llama
