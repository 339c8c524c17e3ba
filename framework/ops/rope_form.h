// What is recorded of RopeAttributes, and what its shaders are told of the angles.
#pragma once
#include <algorithm>

#include "framework/ops/push_block.h"
#include "framework/ops/rope_angles.h"
#include "reprise/ops/rope.h"

namespace reprise::ops {

/// Which angles turn which elements: what rope_set_rows has too.
struct RopeAngles {
  Param<std::int32_t> position;
  Param<float> base;
  Param<float> scale;
  std::int32_t dims = 0;
  RopePairing pairing = RopePairing::interleaved;

  explicit RopeAngles(const RopeAttributes& a)
      : position(a.position), base(a.base), scale(a.scale), dims(a.dims), pairing(a.pairing) {}
  /// Leading elements of a head of x that are rotated.
  std::int64_t rotated(const Shape& x) const { return dims == 0 ? x.back() : std::int64_t{dims}; }
};

/// The tensors among RopeAttributes become operands.
struct RopeForm {
  RopeAngles angles;
  Param<float> extrapolation;
  Param<std::int32_t> ramp_first;
  Param<std::int32_t> ramp_last;
  Param<float> magnitude = 1.0F;
  std::array<std::int32_t, 4> sections{};

  explicit RopeForm(const RopeAttributes& a)
      : angles(a),
        extrapolation(a.extrapolation),
        ramp_first(a.ramp_first),
        ramp_last(a.ramp_last),
        magnitude(a.magnitude),
        sections(a.sections) {}
  /// Of what rope_set_rows has.
  explicit RopeForm(const RopeAngles& plain_angles) : angles(plain_angles) {}
  /// Whether there is nothing but angles.
  bool plain() const;
  bool sectioned() const {
    return std::ranges::any_of(sections, [](auto s) { return s != 0; });
  }
  /// Which of the positions of a row turns a pair.
  std::int64_t section_of(std::int64_t pair) const;
};

/// Part of the push blocks of shaders/rope.comp and rope_set_rows.comp.
struct RopePush {
  RopePush(const RopeAngles& form, std::uint32_t pairs);
  Param<float> base;
  Param<float> scale;
  Fraction inverse_pairs;
  Fraction ratio;  // of a constant base: base^(-1 / pairs)
  Fraction turns;  // of a constant scale: scale / (2 pi), as turns * 2^exponent
  std::int32_t exponent;
};

/// Dispatches the kernel for rotated values of that dtype over x [rows, heads, head_dim].
template <class Push>
void dispatch_rotation(const BoundCall& call, const DeviceTraits& traits, StepList& steps,
                       DType rotated, const Shape& x, std::uint32_t pairs, const Push& push) {
  // Where invocations run side by side, more of them are better than less work.
  const std::uint32_t heads_of_one = traits.cpu_type ? 8 : 1;
  const std::int64_t tasks = x.dim(2) - pairs;
  const std::int64_t units = x.dim(0) * ((x.dim(1) + heads_of_one - 1) / heads_of_one) * tasks;
  steps.dispatch(call, traits,
                 {shader_for(call.op, rotated), {traits.workgroup_size, heads_of_one}, 2},
                 groups_for({x, static_cast<std::uint64_t>(units)}, traits.workgroup_size), push);
}

}  // namespace reprise::ops
