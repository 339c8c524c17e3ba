#pragma once
#include <array>

#include "reprise/core/recorder.h"

namespace reprise {

/// Pairs of elements that are rotated together: (2i, 2i + 1) or (i, i + dims / 2).
enum class RopePairing : std::int32_t { interleaved, half_split };

struct RopeAttributes {
  Param<std::int32_t> position{};  // of row 0; row r is at position + r
  Param<float> base = 10000.0F;
  Param<float> scale = 1.0F;  // of all angles; 0.25 stretches a context by four
  std::int32_t dims = 0;      // leading elements of a head that are rotated; 0: all
  RopePairing pairing = RopePairing::interleaved;
  TensorArgument positions{};          // i32 [rows], one per row instead of position
  TensorArgument frequency_factors{};  // f32 [dims / 2], divide the frequencies
  /// Multi-section rotation, of images and video: i32 `positions` are [rows, 4]. Pair i uses
  /// position s of its row if (i modulo the sum of all) falls into section s. All 0: one position.
  std::array<std::int32_t, 4> sections{};
  /// YaRN, see with_yarn(): how far pairs up to ramp_first keep the frequency they have with a
  /// scale of 1, from 0 (not) to 1. Pairs from ramp_last on have the scaled one, those between a
  /// mixture.
  Param<float> extrapolation = 0.0F;
  Param<std::int32_t> ramp_first = 0;
  Param<std::int32_t> ramp_last = 0;
  Param<float> magnitude = 1.0F;  // rotated elements are multiplied by it
};

/// A model whose context was stretched from `context` positions by RopeAttributes::scale.
struct YarnScaling {
  std::int32_t context = 0;
  float extrapolation = 1.0F;
  float magnitude = 1.0F;   // times 1 + 0.1 * ln(1 / scale), unless extrapolation is 0
  float beta_fast = 32.0F;  // turns within the context from which on a pair keeps its frequency
  float beta_slow = 1.0F;   // turns up to which it is scaled
};
/// Returns `a` with ramp, extrapolation and magnitude of YaRN, for heads of which `dims` elements
/// turn.
/// Errors: invalid_argument if base or scale are in the state, base is not above 1, dims is below
/// 2, or scale or the context or a beta of `yarn` is not above 0.
/// Source: Peng et al. 2023, "YaRN", sections 3.2 to 3.4.
[[nodiscard]] RopeAttributes with_yarn(RopeAttributes a, std::int64_t dims,
                                       const YarnScaling& yarn);

/// Applies rotary position embedding: pair i of a head at position p is turned by the angle p *
/// scale * base^(-2i / dims) / frequency_factors[i]; elements from dims on are copied. With
/// extrapolation, scale * (1 - m) + m replaces scale, where m is extrapolation * (1 - clamp((i -
/// ramp_first) / max(ramp_last - ramp_first, 1), 0, 1)). Angles are 64-bit fractions of a turn on
/// the GPU, good to 1e-8 rad below position 1,000,000; f64 in the reference.
///
/// A factor that is not a positive normal number leaves its pair as it is. Numbers in the state: a
/// base that is no finite number of at least 1 counts as 1, a scale that is no positive normal
/// number as 0: nothing turns. Extrapolation and ramp count as the nearest number that is allowed,
/// NaN as 0.
/// Shapes: x, y: [rows, heads, head_dim] f32 or f16 alike, x may be strided.
/// Errors: invalid_argument if dims is odd or above head_dim, a constant base below 1, a constant
/// scale not above 0, an extrapolation outside 0 to 1, a ramp outside 0 to 32,767, a magnitude that
/// is not finite, sections that are negative, above 65,535 or without positions, or the optional
/// tensors have other shapes than above.
/// Source: Su et al. 2021, "RoFormer".
[[nodiscard]] Tensor rope(Site site, TensorRef x, RopeAttributes a = {});

}  // namespace reprise
