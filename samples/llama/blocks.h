// The blocks that layers are made of. Each takes the residual stream x, [rows, dim], at the
// positions pos, pos + 1, ... of the state, and returns it with what the block adds.
#pragma once
#include "samples/llama/model.h"

namespace llama {

/// Normalised, projected, rotated attention, with biases, norms per head and of the result, a cap
/// and a window where the layer has them. Stores keys and values.
reprise::Tensor attention_block(reprise::Recorder& s, const Model& m, const Layer& w,
                                const reprise::Tensor& x);

/// A gated linear unit, with a norm of the result where the layer has one.
reprise::Tensor feed_forward(reprise::Recorder& s, const Model& m, const Layer& w,
                             const reprise::Tensor& x);

/// The same of the experts that a router picks for each row; their weights, a softmax over the
/// router's logits, are made to sum to 1.
reprise::Tensor mixture_of_experts(reprise::Recorder& s, const Model& m, const Layer& w,
                                   const reprise::Tensor& x);

/// A selective state space behind a short convolution, both gated. What a sequence leaves is in the
/// layer's states; at position 0 a sequence begins. Source: Gu & Dao 2023, "Mamba", figure 3.
reprise::Tensor state_space(reprise::Recorder& s, const Model& m, const Layer& w,
                            const reprise::Tensor& x);

}  // namespace llama
