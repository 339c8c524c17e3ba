#include "framework/ops/rope_form.h"

#include <numeric>

namespace reprise::ops {

bool RopeForm::plain() const {
  return !sectioned() && !extrapolation.dynamic() && extrapolation.value == 0 &&
         !magnitude.dynamic() && magnitude.value == 1;
}

std::int64_t RopeForm::section_of(std::int64_t pair) const {
  std::int64_t rest = pair % std::accumulate(sections.begin(), sections.end(), std::int64_t{0});
  std::size_t section = 0;
  while (rest >= sections[section]) {
    rest -= sections[section++];
  }
  return static_cast<std::int64_t>(section);
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

}  // namespace reprise::ops
