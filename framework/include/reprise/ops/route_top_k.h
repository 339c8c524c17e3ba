#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// The gate of a logit: softmax over the logits of its row, or 1 / (1 + exp(-logit)) of each alone.
enum class ExpertGate : std::int32_t { softmax, sigmoid };

struct RouteAttributes {
  std::int32_t k = 1;  // experts chosen per row
  ExpertGate gate = ExpertGate::softmax;
  bool normalise = true;      // the chosen weights of a row are divided by their sum
  Param<float> scale = 1.0F;  // of the weights, at the end
};

/// The chosen experts of each row, the largest gate first, and the weight of each.
struct RoutedExperts {
  Tensor ids;      // i32 [rows, k]: k different ones, each from 0 to experts - 1
  Tensor weights;  // f32 [rows, k]
};

/// Maximum number of experts that can be chosen per row: kernels keep them in registers.
inline constexpr std::int32_t kMaxRoutedExperts = 64;

/// Routes a mixture of experts: computes gates of the logits and chooses the k largest of each row.
/// The bias is added to the gates for the choice alone, not for the weights. f32, f64 in the
/// reference.
///
/// Without a bias the order is that of the logits, which no rounding of a gate changes; equal ones
/// go by their number. Ids are k different experts for any logits. NaN loses against every number,
/// and its gate is 0, as that of -infinity is beside a number. Equal largest logits share the
/// softmax, infinite ones too. A sum of 0 divides nothing: weights stay 0. A gate below the
/// smallest normal number may be 0.
/// Shapes: logits: [rows, experts] f32, rows may be strided; bias: [experts] f32, may be absent
/// ({}).
/// Errors: invalid_argument if logits has a rank other than 2, bias a shape other than [experts],
/// or k is not from 1 to the number of experts and kMaxRoutedExperts; unsupported where a software
/// driver cannot scan that many experts.
/// Source: Shazeer et al. 2017, "Outrageously Large Neural Networks"; the bias: DeepSeek-V3, 2024.
[[nodiscard]] RoutedExperts route_top_k(Site site, TensorRef logits, RouteAttributes a,
                                        TensorRef bias = {});

}  // namespace reprise
