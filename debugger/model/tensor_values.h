// The contents of a tensor as numbers, and parts of them as matrices. What a file says of type,
// shape and size is believed only if they agree.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reprise/core/dtype.h"

namespace reprise::debugger {

enum class ValueKind : std::uint8_t { number, nan, infinite, denormal };

struct TensorValues {
  DType dtype = DType::f32;
  std::vector<std::size_t> dims;  // row-major, at least one
  std::vector<double> values;     // exact for all but i64 above 2^53

  /// Denormal: nearer to zero than the normal numbers of its type.
  ValueKind kind(std::size_t element) const;
};

/// No more elements are decoded: 128 MiB of doubles.
inline constexpr std::size_t kMaxShownValues = std::size_t{16} << 20U;

/// Throws Error(invalid_argument) saying what is wrong: an unknown type, a shape that is none, too
/// many elements, or more or fewer bytes than type and shape take.
TensorValues decode_values(const std::string& dtype, const std::string& shape_json,
                           std::span<const std::byte> bytes);

/// Consecutive elements in lines of `columns`; the last line may be shorter.
struct ValueMatrix {
  std::size_t first = 0, count = 0, columns = 1;
  std::size_t lines() const { return (count + columns - 1) / columns; }
  bool operator==(const ValueMatrix&) const = default;
};

/// The last two dimensions at `index` of the others (one each, clamped). A single row of many
/// elements is cut into lines of a power of two.
ValueMatrix matrix_of(std::span<const std::size_t> dims, std::span<const std::size_t> index);

/// "[2, :, :]", "[:] in lines of 32".
std::string matrix_text(std::span<const std::size_t> dims, std::span<const std::size_t> index);

/// The first element that is a NaN or infinity.
std::optional<std::size_t> first_not_finite(const TensorValues& values);

/// "[2, 0, 17]": the index of an element.
std::string element_text(std::span<const std::size_t> dims, std::size_t element);

/// Four significant digits: "0.01172", "1.5e+20", "nan", "-inf".
std::string value_text(double value);

}  // namespace reprise::debugger
