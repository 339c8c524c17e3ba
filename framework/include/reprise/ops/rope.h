#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Which elements are rotated together: (2i, 2i + 1) or (i, i + dims / 2).
enum class RopePairing : std::int32_t { interleaved, half_split };

struct RopeAttributes {
  Param<std::int32_t> position{};  // of row 0; row r is at position + r
  float base = 10000;
  float scale = 1;        // of all angles; 0.25 stretches a context by four
  std::int32_t dims = 0;  // leading elements of a head that are rotated; 0: all
  RopePairing pairing = RopePairing::interleaved;
  const Tensor* positions = nullptr;          // i32 [rows], one per row instead of position
  const Tensor* frequency_factors = nullptr;  // f32 [dims / 2], divide the frequencies
};

/// Rotary position embedding: pair i of a head at position p is turned by the angle
/// p * scale * base^(-2i / dims) / frequency_factors[i]; elements from dims on are copied.
/// x, y: [rows, heads, head_dim] f32, x may be strided. A factor that is not a positive normal
/// number leaves its pair as it is.
/// Errors: invalid_argument if dims is odd or above head_dim, base below 1, scale not above 0, or
/// the optional tensors have other shapes than above.
/// Source: Su et al. 2021, "RoFormer". Angles are 64-bit fractions of a turn on the GPU, good to
/// 1e-8 rad below position 1,000,000; f64 in the reference.
[[nodiscard]] Tensor rope(Site site, TensorRef x, RopeAttributes a = {});

}  // namespace reprise
