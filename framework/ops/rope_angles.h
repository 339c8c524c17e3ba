// The constants behind the angles of rope, from integer arithmetic alone: where base or scale are
// dynamic, shaders/include/rope_angles.glsl computes the same bits on the device.
#pragma once
#include <array>
#include <cstdint>

namespace reprise::ops {

/// A number in [0, 1) as a 64-bit fraction, low word first: uvec2 of shaders/include/fraction.glsl.
using Fraction = std::array<std::uint32_t, 2>;

/// What counts where the state holds something else: a finite base of at least 1, else 1; a
/// positive normal scale, else 0.
float usable_base(float base);
float usable_scale(float scale);

/// floor(2^64 / pairs), less than 1.
Fraction inverse(std::uint32_t pairs);
/// base^(-1 / pairs) to about 2^-56, for a usable base.
Fraction rope_ratio(float base, Fraction inverse_pairs);
/// scale / (2 pi) as turns * 2^exponent, for a usable scale.
struct RopeTurns {
  Fraction turns;
  std::int32_t exponent;
};
RopeTurns rope_turns(float scale);

}  // namespace reprise::ops
