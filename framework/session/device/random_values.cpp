// Compilers must not contract the arithmetic: results would differ between machines
// (framework/CMakeLists.txt).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "framework/core/float16.h"
#include "framework/core/philox.h"
#include "framework/session/device/element_range.h"
#include "framework/session/device/element_values.h"
#include "framework/session/device/normal_quantile.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

constexpr double kWords = 0x1p32;  // a random word is below
/// Above the quantile of the last word, which is 6.338.
constexpr double kFurthest = 6.34;

/// Nearest value of a floating dtype.
float rounded(DType dtype, double value) {
  const auto single = static_cast<float>(value);
  return dtype == DType::f16 ? f16_to_f32(f32_to_f16(single)) : single;
}

/// value(random word) as elements of T.
template <class T, class F>
ElementValues drawn(std::uint64_t seed, F value) {
  const PhiloxKey key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  return [key, value](std::uint64_t first, std::span<std::byte> to) {
    PhiloxCounter words{};
    for (std::uint64_t i = 0; i < to.size() / sizeof(T); ++i) {
      const std::uint64_t index = first + i;
      if (i == 0 || index % words.size() == 0) {
        const std::uint64_t block = index / words.size();
        words = philox4x32(
            {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U), 0, 0},
            key);
      }
      const T element = value(words[index % words.size()]);
      std::memcpy(to.data() + i * sizeof(T), &element, sizeof element);
    }
  };
}

/// value(random word), a float that f16 holds if that is the dtype, as elements of the dtype.
template <class F>
ElementValues drawn_floats(DType dtype, std::uint64_t seed, F value) {
  if (dtype == DType::f16) {
    return drawn<std::uint16_t>(seed,
                                [value](std::uint32_t word) { return f32_to_f16(value(word)); });
  }
  return drawn<float>(seed, value);
}

/// The neighbour of a value of a floating dtype, in the direction of `towards`.
float neighbour(DType dtype, float value, float towards) {
  if (dtype == DType::f32) {
    return std::nextafter(value, towards);
  }
  if (value == 0) {
    return std::copysign(f16_to_f32(1), towards);
  }
  const int outwards = (towards > value) == (value > 0) ? 1 : -1;
  return f16_to_f32(static_cast<std::uint16_t>(f32_to_f16(value) + outwards));
}

ElementValues uniform_floats(DType dtype, std::uint64_t seed, double low, double high) {
  constexpr float kEnd = std::numeric_limits<float>::infinity();
  float first = rounded(dtype, low);
  first = first < low ? neighbour(dtype, first, kEnd) : first;
  float last = rounded(dtype, high);
  last = last >= high ? neighbour(dtype, last, -kEnd) : last;
  if (first > last) {
    throw_invalid_argument("There is no value of ", name_of(dtype), " that is at least (",
                           text_of(low), ") and below (", text_of(high), ").");
  }
  return drawn_floats(dtype, seed, [=](std::uint32_t word) {
    return std::clamp(rounded(dtype, low + (high - low) * (word / kWords)), first, last);
  });
}

}  // namespace

ElementValues uniform_values(DType dtype, std::uint64_t seed, double low, double high) {
  require_dtype("uniform", dtype);
  require_held("the low end of uniform", dtype, low);
  require_held("the high end of uniform", dtype, high, dtype == DType::i32 ? 1 : 0);
  if (low > high) {
    throw_invalid_argument("uniform needs a low end of at most its high end, but they are (",
                           text_of(low), ") and (", text_of(high), ").");
  }
  if (low == high) {
    return constant_values(dtype, low);
  }
  if (dtype != DType::i32) {
    return uniform_floats(dtype, seed, low, high);
  }
  return drawn<std::int32_t>(
      seed, [first = static_cast<std::int64_t>(low),
             count = static_cast<std::uint64_t>(high - low)](std::uint32_t word) {
        return static_cast<std::int32_t>(first + static_cast<std::int64_t>(word * count >> 32U));
      });
}

ElementValues normal_values(DType dtype, std::uint64_t seed, double mean, double stddev) {
  require_dtype("normal", dtype, false);
  require_held("the mean of normal", dtype, mean);
  if (!(stddev >= 0)) {
    throw_invalid_argument("The standard deviation of normal is at least 0, but it is (",
                           text_of(stddev), ").");
  }
  require_held("the furthest value that normal may make", dtype,
               std::abs(mean) + kFurthest * stddev);
  return drawn_floats(dtype, seed, [=](std::uint32_t word) {
    return rounded(dtype, mean + stddev * normal_quantile((word + 0.5) / kWords));
  });
}

}  // namespace reprise
