// The closed form in which derived state fields are computed: on the host by evaluate(), on the
// device by the op `plan` (shaders/plan.comp). Both give the same bits for every input.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace reprise {

/// clamp(ceil_div(a * X + b * Y + c, div), lo, hi); X and Y are words of the state block, 0 where
/// the index is -1. The sum is kept modulo 2^32, so it is exact while |a * X + b * Y + c| < 2^31.
/// div below 1 counts as 1; division rounds up for negative sums too (-7 / 2 gives -3).
struct StateExpression {
  std::int32_t x = -1, y = -1;
  std::int32_t a = 0, b = 0, c = 0;
  std::int32_t div = 1;
  std::int32_t lo = std::numeric_limits<std::int32_t>::min();
  std::int32_t hi = std::numeric_limits<std::int32_t>::max();
};

/// Returns the value of an expression; words outside the span count as 0.
inline std::int32_t evaluate(const StateExpression& e, std::span<const std::int32_t> words) {
  const auto field = [words](std::int32_t index) {
    const auto i = static_cast<std::uint32_t>(index);
    return i < words.size() ? static_cast<std::uint32_t>(words[i]) : 0U;
  };
  const auto sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(e.a) * field(e.x) +
                                             static_cast<std::uint32_t>(e.b) * field(e.y) +
                                             static_cast<std::uint32_t>(e.c));
  const std::int64_t div = std::max(e.div, 1);
  const std::int64_t quotient = sum > 0 ? (sum + div - 1) / div : sum / div;
  return std::min(std::max(static_cast<std::int32_t>(quotient), e.lo), e.hi);
}

}  // namespace reprise
