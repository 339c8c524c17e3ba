#include "framework/ops/rope_form.h"

#include <numeric>

namespace reprise::ops {

bool RopeForm::plain() const {
  return !sectioned() && !extrapolation.dynamic() && extrapolation.value == 0 &&
         !magnitude.dynamic() && magnitude.value == 1;
}

std::int64_t RopeForm::section_of(std::int64_t pair) const {
  std::int64_t rest =
      pair % std::accumulate(std::begin(sections), std::end(sections), std::int64_t{0});
  std::int64_t section = 0;
  while (rest >= sections[section]) {
    rest -= sections[section++];
  }
  return section;
}

RopePush::RopePush(const RopeAngles& form, std::uint32_t pairs)
    : base(form.base),
      scale(form.scale),
      inverse_pairs(inverse(pairs)),
      ratio(rope_ratio(usable_base(form.base.value), inverse_pairs)) {
  const RopeTurns of_scale = rope_turns(usable_scale(form.scale.value));
  turns = of_scale.turns;
  exponent = of_scale.exponent;
}

std::uint64_t rope_invocations(const Shape& x, std::uint32_t pairs, std::uint32_t heads_of_one) {
  const auto rows = static_cast<std::uint64_t>(x.dim(0));
  const auto heads = static_cast<std::uint64_t>(x.dim(1));
  const auto tasks = static_cast<std::uint64_t>(x.dim(2)) - pairs;
  return rows * ((heads + heads_of_one - 1) / heads_of_one) * tasks;
}

}  // namespace reprise::ops
