#include "reprise/formats/gguf_value.h"

#include <array>
#include <cstring>

#include "framework/formats/text.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

template <class T>
T load(std::span<const std::byte> encoded, std::uint64_t index) {
  T value{};
  std::memcpy(&value, encoded.data() + index * sizeof(T), sizeof(T));
  return value;
}

bool is_integer(GgufValueType type) {
  return type < GgufValueType::f32 || type == GgufValueType::u64 || type == GgufValueType::i64;
}

}  // namespace

std::string_view name_of(GgufValueType type) {
  constexpr std::array<std::string_view, 13> kNames{"u8",  "i8",  "u16",  "i16",    "u32",
                                                    "i32", "f32", "bool", "string", "array",
                                                    "u64", "i64", "f64"};
  return kNames[static_cast<std::size_t>(type)];
}

std::int64_t GgufValue::as_integer(std::int64_t min, std::int64_t max) const {
  require(is_integer(element_type_), false, "an integer");
  const std::int64_t value = integer_at(0);
  if (value < min || value > max) {
    throw_invalid_argument(named(), " is (", value, "), but must be in [", min, ", ", max, "].");
  }
  return value;
}

double GgufValue::as_real() const {
  const bool is_double = element_type_ == GgufValueType::f64;
  require(is_double || element_type_ == GgufValueType::f32, false, "f32 or f64");
  return is_double ? load<double>(encoded_, 0) : static_cast<double>(load<float>(encoded_, 0));
}

bool GgufValue::as_bool() const {
  require(element_type_ == GgufValueType::boolean, false, "a bool");
  return load<std::uint8_t>(encoded_, 0) != 0;
}

std::string_view GgufValue::as_string() const {
  require(element_type_ == GgufValueType::string, false, "a string");
  const auto text = encoded_.subspan(sizeof(std::uint64_t));
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::vector<std::int64_t> GgufValue::as_integers() const {
  require(is_integer(element_type_), true, "an array of integers");
  std::vector<std::int64_t> values(static_cast<std::size_t>(count_));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = integer_at(i);
  }
  return values;
}

std::vector<float> GgufValue::as_floats() const {
  require(element_type_ == GgufValueType::f32, true, "an array of f32");
  std::vector<float> values(static_cast<std::size_t>(count_));
  if (!values.empty()) {
    std::memcpy(values.data(), encoded_.data(), encoded_.size());
  }
  return values;
}

std::vector<std::string_view> GgufValue::as_strings() const {
  require(element_type_ == GgufValueType::string, true, "an array of strings");
  std::vector<std::string_view> values(static_cast<std::size_t>(count_));
  auto rest = encoded_;
  for (std::string_view& value : values) {
    const auto bytes = static_cast<std::size_t>(load<std::uint64_t>(rest, 0));
    rest = rest.subspan(sizeof(std::uint64_t));
    value = {reinterpret_cast<const char*>(rest.data()), bytes};
    rest = rest.subspan(bytes);
  }
  return values;
}

std::int64_t GgufValue::integer_at(std::uint64_t index) const {
  switch (element_type_) {
    case GgufValueType::u8:
      return load<std::uint8_t>(encoded_, index);
    case GgufValueType::i8:
      return load<std::int8_t>(encoded_, index);
    case GgufValueType::u16:
      return load<std::uint16_t>(encoded_, index);
    case GgufValueType::i16:
      return load<std::int16_t>(encoded_, index);
    case GgufValueType::u32:
      return load<std::uint32_t>(encoded_, index);
    case GgufValueType::i32:
      return load<std::int32_t>(encoded_, index);
    default:
      break;
  }
  const auto wide = load<std::int64_t>(encoded_, index);
  if (element_type_ == GgufValueType::u64 && wide < 0) {
    throw_invalid_argument(named(), " is (", static_cast<std::uint64_t>(wide),
                           "), but must be at most 2^63 - 1.");
  }
  return wide;
}

std::string GgufValue::named() const {
  return joined_text("The metadata value ", quoted_name(key_), " of the GGUF file '", file_, "'");
}

void GgufValue::require(bool matches, bool array, std::string_view wanted) const {
  if (!matches || array != is_array_) {
    throw_invalid_argument(named(), " has type (", is_array_ ? "array of " : "",
                           name_of(element_type_), "), but must be ", wanted, ".");
  }
}

}  // namespace reprise
