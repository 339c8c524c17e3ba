#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// What a logit becomes: softmax over the logits of its row, or 1 / (1 + exp(-logit)) of each
/// alone.
enum class ExpertGate : std::int32_t { softmax, sigmoid };

struct RouteAttributes {
  std::int32_t k = 1;  // experts chosen per row
  ExpertGate gate = ExpertGate::softmax;
  bool normalise = true;      // the chosen weights of a row are divided by their sum
  Param<float> scale = 1.0F;  // of the weights, at the end
};

/// Per row the experts that were chosen, the largest gate first, and the weight of each.
struct RoutedExperts {
  Tensor ids;      // i32 [rows, k]: k different ones, each from 0 to experts - 1
  Tensor weights;  // f32 [rows, k]
};

/// The largest number of experts that can be chosen per row: kernels keep them in registers.
inline constexpr std::int32_t kMaxRoutedExperts = 64;

/// The router of a mixture of experts: gates of the logits, the k largest of each row.
/// logits: [rows, experts] f32, rows may be strided; bias: [experts] f32, may be absent ({}), is
/// added to the gates for the choice alone, not for the weights.
/// Without a bias the order is that of the logits, which no rounding of a gate changes; equal ones
/// go by their number. Ids are k different experts whatever the logits are. NaN loses against every
/// number, and its gate is 0, as that of -infinity is beside a number. Equal largest logits share
/// the softmax, infinite ones too. A sum of 0 divides nothing: weights stay 0.
/// A gate below the smallest normal number may be 0.
/// Errors: invalid_argument if logits has another rank than 2, bias another shape than [experts],
/// or k is not from 1 to the number of experts and kMaxRoutedExperts; unsupported where a software
/// driver cannot scan that many experts.
/// Source: Shazeer et al. 2017, "Outrageously Large Neural Networks"; the bias: DeepSeek-V3, 2024.
/// f32, f64 in the reference.
[[nodiscard]] RoutedExperts route_top_k(Site site, TensorRef logits, RouteAttributes a,
                                        TensorRef bias = {});

}  // namespace reprise
