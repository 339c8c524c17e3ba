#include "framework/session/checks/verify_difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "framework/session/device/value_text.h"

namespace reprise {

std::optional<VerifyDifference> difference_of(DType dtype, std::span<const std::byte> expected,
                                              std::span<const std::byte> actual) {
  const std::size_t size = element_bytes(dtype);
  std::optional<VerifyDifference> difference;
  for (std::size_t at = 0; at + size <= expected.size(); at += size) {
    const auto a = expected.subspan(at, size);
    const auto b = actual.subspan(at, size);
    if (std::memcmp(a.data(), b.data(), size) == 0) {
      continue;
    }
    if (!difference) {
      difference = VerifyDifference{.element = at / size,
                                    .expected = text_of_element(dtype, a),
                                    .actual = text_of_element(dtype, b)};
    }
    double apart = std::abs(value_of_element(dtype, a) - value_of_element(dtype, b));
    if (std::isnan(apart)) {
      apart = std::numeric_limits<double>::infinity();
    }
    difference->max_abs = std::max(difference->max_abs, apart);
    ++difference->count;
  }
  return difference;
}

}  // namespace reprise
