// Compilers must not contract the arithmetic: results would differ between machines
// (framework/CMakeLists.txt).
#include "framework/session/device/element_values.h"

#include <cmath>
#include <cstring>

#include "framework/core/float16.h"
#include "framework/session/device/element_range.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

/// value(index) as elements of T.
template <class T, class F>
ElementValues indexed(F value) {
  return [value](std::uint64_t first, std::span<std::byte> to) {
    for (std::uint64_t i = 0; i < to.size() / sizeof(T); ++i) {
      const T element = value(first + i);
      std::memcpy(to.data() + i * sizeof(T), &element, sizeof element);
    }
  };
}

}  // namespace

ElementValues constant_values(DType dtype, double value) {
  require_dtype("full", dtype);
  if (dtype == DType::i32) {
    require_held("the value of full", dtype, value);
    return indexed<std::int32_t>(
        [integer = static_cast<std::int32_t>(value)](std::uint64_t) { return integer; });
  }
  if (std::isfinite(value)) {
    require_held("the value of full", dtype, value);
  }
  const auto single = static_cast<float>(value);
  if (dtype == DType::f16) {
    return indexed<std::uint16_t>([half = f32_to_f16(single)](std::uint64_t) { return half; });
  }
  return indexed<float>([single](std::uint64_t) { return single; });
}

ElementValues ramp_values(DType dtype, double start, double step, std::uint64_t elements) {
  require_dtype("arange", dtype);
  require_held("the start of arange", dtype, start);
  if (!std::isfinite(step) || (dtype == DType::i32 && step != std::floor(step))) {
    throw_invalid_argument("The step of arange for ", name_of(dtype), " is ",
                           (dtype == DType::i32 ? "an integer" : "finite"), ", but it is (",
                           text_of(step), ").");
  }
  const auto value = [=](std::uint64_t i) { return start + static_cast<double>(i) * step; };
  require_held("the last of " + std::to_string(elements) + " elements of arange", dtype,
               value(elements - 1));
  switch (dtype) {
    case DType::i32:
      return indexed<std::int32_t>(
          [value](std::uint64_t i) { return static_cast<std::int32_t>(value(i)); });
    case DType::f16:
      return indexed<std::uint16_t>(
          [value](std::uint64_t i) { return f32_to_f16(static_cast<float>(value(i))); });
    default:
      return indexed<float>([value](std::uint64_t i) { return static_cast<float>(value(i)); });
  }
}

}  // namespace reprise
