#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct SoftmaxAttributes {
  Param<float> scale = 1.0F;
  /// ALiBi: the mask of head h of H is multiplied by 2^(-max_bias * (h + 1) / H), where H is a
  /// power of two. The heads past the largest power of two P below H have the slopes between those
  /// of P heads, 2^(-max_bias / 2 * (2 (h - P) + 1) / P). 0 or less: by 1.
  Param<float> max_bias = 0.0F;
  TensorArgument mask{};   // f32 or f16 [.., mask rows, cols], rows may be strided
  TensorArgument sinks{};  // f32 [heads]
};

/// Computes softmax: y = exp(v - max v) / sum, per row, of v = x * scale + mask * slope. f32, f64
/// in the reference. A sink is a logit that a row of its head has besides: it takes its share of
/// the sum and has no column. A row is NaN if one of its v is NaN or infinity, or if all are
/// -infinity and it has no sink.
/// Shapes: x: [.., heads, rows, cols] f32, rows may be strided; missing dimensions count as 1; y:
/// as x, f32. The mask has at least as many rows as x, of which the first are used; its outer
/// dimensions divide those of x and repeat.
/// Errors: invalid_argument if shapes do not match, or heads are an extent of the state and
/// max_bias may be above 0.
/// Source: ggml_soft_max_ext; Press et al. 2021 (ALiBi); Xiao et al. 2023 (sinks).
[[nodiscard]] Tensor softmax(Site site, TensorRef x, SoftmaxAttributes a = {});

/// Returns the natural logarithm of softmax(), without its loss at small probabilities.
[[nodiscard]] Tensor log_softmax(Site site, TensorRef x, SoftmaxAttributes a = {});

}  // namespace reprise
