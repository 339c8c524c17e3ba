// Floats as integers that order like them: both zeros are equal, NaN is 0 and below everything.
// Mirrors shaders/include/float_key.glsl.
#pragma once
#include <bit>
#include <cstdint>

namespace reprise {

constexpr std::uint32_t key_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return 0;
  }
  const std::uint32_t one_zero = bits == 0x80000000U ? 0U : bits;
  return one_zero ^ ((one_zero >> 31U) != 0 ? 0xFFFFFFFFU : 0x80000000U);
}

}  // namespace reprise
