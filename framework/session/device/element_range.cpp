#include "framework/session/device/element_range.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "reprise/core/error.h"

namespace reprise {
namespace {

constexpr double kLargestF16 = 65504;
constexpr double kIntegers = 0x1p31;  // i32 is below, and at least its negative

double largest(DType dtype) {
  return dtype == DType::f16   ? kLargestF16
         : dtype == DType::f32 ? static_cast<double>(std::numeric_limits<float>::max())
                               : kIntegers - 1;
}

}  // namespace

std::string text_of(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, std::end(buffer), value).ptr};
}

void require_dtype(const char* rule, DType dtype, bool integers) {
  if (dtype != DType::f32 && dtype != DType::f16 && !(integers && dtype == DType::i32)) {
    throw_invalid_argument(rule, " makes tensors of f32", (integers ? ", f16 and i32" : " and f16"),
                           ", but not of (", name_of(dtype), ").");
  }
}

void require_held(const std::string& what, DType dtype, double value, double beyond) {
  const bool integer = dtype == DType::i32;
  const double min = integer ? -kIntegers : -largest(dtype);
  if (!(value >= min && value <= largest(dtype) + beyond) ||
      (integer && value != std::floor(value))) {
    throw_invalid_argument("An element of ", name_of(dtype), " is ",
                           (integer ? "an integer" : "a number"), " from ", text_of(min), " to ",
                           text_of(largest(dtype)), ", but ", what, " is (", text_of(value), ").");
  }
}

}  // namespace reprise
