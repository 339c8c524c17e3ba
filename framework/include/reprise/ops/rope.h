#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Which elements are rotated together: (2i, 2i + 1) or (i, i + dims / 2).
enum class RopePairing : std::int32_t { interleaved, half_split };

struct RopeAttributes {
  Param<std::int32_t> position{};  // of row 0; row r is at position + r
  Param<float> base = 10000.0F;
  Param<float> scale = 1.0F;  // of all angles; 0.25 stretches a context by four
  std::int32_t dims = 0;      // leading elements of a head that are rotated; 0: all
  RopePairing pairing = RopePairing::interleaved;
  const Tensor* positions = nullptr;          // i32 [rows], one per row instead of position
  const Tensor* frequency_factors = nullptr;  // f32 [dims / 2], divide the frequencies
};

/// Rotary position embedding: pair i of a head at position p is turned by the angle
/// p * scale * base^(-2i / dims) / frequency_factors[i]; elements from dims on are copied.
/// x, y: [rows, heads, head_dim] f32, x may be strided. A factor that is not a positive normal
/// number leaves its pair as it is.
/// Errors: invalid_argument if dims is odd or above head_dim, a constant base below 1, a constant
/// scale not above 0, or the optional tensors have other shapes than above. In the state, a base
/// that is no finite number of at least 1 counts as 1, a scale that is no positive normal number as
/// 0: nothing turns.
/// Source: Su et al. 2021, "RoFormer". Angles are 64-bit fractions of a turn on the GPU, good to
/// 1e-8 rad below position 1,000,000; f64 in the reference.
[[nodiscard]] Tensor rope(Site site, TensorRef x, RopeAttributes a = {});

}  // namespace reprise
