// What is recorded of RopeAttributes, and what its shaders are told of the angles.
#pragma once
#include "framework/ops/rope_angles.h"
#include "reprise/core/step.h"
#include "reprise/ops/rope.h"

namespace reprise::ops {

/// The tensors among RopeAttributes become operands.
struct RopeForm {
  Param<std::int32_t> position;
  Param<float> base;
  Param<float> scale;
  std::int32_t dims = 0;
  RopePairing pairing = RopePairing::interleaved;

  explicit RopeForm(const RopeAttributes& a)
      : position(a.position), base(a.base), scale(a.scale), dims(a.dims), pairing(a.pairing) {}
  /// Leading elements of a head of x that are rotated.
  std::int64_t rotated(const Shape& x) const { return dims == 0 ? x.back() : std::int64_t{dims}; }
};

/// Part of the push blocks of shaders/rope.comp and rope_set_rows.comp.
struct RopePush {
  RopePush(const RopeForm& form, std::uint32_t pairs);
  Param<float> base;
  Param<float> scale;
  Fraction inverse_pairs;
  Fraction ratio;  // of a constant base: base^(-1 / pairs)
  Fraction turns;  // of a constant scale: scale / (2 pi), as turns * 2^exponent
  std::int32_t exponent;
};

/// Where invocations run side by side, more of them are better than less work: heads of one.
inline std::uint32_t rope_heads(const DeviceTraits& traits) { return traits.cpu_type ? 8 : 1; }
/// Invocations over x [rows, heads, head_dim], with so many heads for each.
std::uint64_t rope_invocations(const Shape& x, std::uint32_t pairs, std::uint32_t heads_of_one);

}  // namespace reprise::ops
