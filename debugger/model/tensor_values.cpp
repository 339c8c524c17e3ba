#include "debugger/model/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "debugger/model/format.h"
#include "reprise/backend/decode.h"
#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kMaxDims = 8;
constexpr std::size_t kMaxShapeText = 256;
constexpr std::size_t kUncutRow = 64;  // a single row of no more elements stays one line

std::vector<std::size_t> dims_of(const std::string& shape_json) {
  using nlohmann::json;
  const json shape = shape_json.size() <= kMaxShapeText ? json::parse(shape_json, nullptr, false)
                                                        : json(json::value_t::discarded);
  const bool all_counts =
      shape.is_array() && !shape.empty() && shape.size() <= kMaxDims &&
      std::all_of(shape.begin(), shape.end(), [](const json& dim) {
        return dim.is_number_unsigned() && dim.get<std::uint64_t>() <= kMaxShownValues;
      });
  if (!all_counts) {
    throw_invalid_argument("The shape (", shape_json.substr(0, kMaxShapeText),
                           ") is no list of 1 to 8 sizes of at most ", count_text(kMaxShownValues),
                           " each.");
  }
  return shape.get<std::vector<std::size_t>>();
}

std::size_t elements_of(std::span<const std::size_t> dims) {
  std::size_t elements = 1;
  for (const std::size_t dim : dims) {
    elements *= dim;  // at most kMaxShownValues squared
    if (elements > kMaxShownValues) {
      throw_invalid_argument("The tensor has more than ", count_text(kMaxShownValues),
                             " elements, the most that are shown.");
    }
  }
  return elements;
}

template <class Integer>
void decode_integers(std::span<const std::byte> bytes, std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Integer value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    values[i] = static_cast<double>(value);
  }
}

void decode_floats(DType dtype, std::span<const std::byte> bytes, std::vector<double>& values) {
  constexpr std::size_t kPiece = 1024;  // whole blocks of any format
  const DTypeInfo& info = info_of(dtype);
  const Decode decode = decoder_of(dtype);
  std::array<float, kPiece> piece{};
  for (std::size_t begin = 0; begin < values.size(); begin += kPiece) {
    const std::size_t some = std::min(kPiece, values.size() - begin);
    const std::size_t blocks = (some + info.block_elements - 1) / info.block_elements;
    decode(bytes.data() + begin / info.block_elements * info.block_bytes,
           blocks * info.block_elements, piece.data());
    std::copy_n(piece.begin(), some, values.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

double least_normal(DType dtype) { return dtype == DType::f16 ? 0x1p-14 : 0x1p-126; }

}  // namespace

ValueKind TensorValues::kind(std::size_t element) const {
  const double value = values[element];
  if (!std::isfinite(value)) {
    return std::isnan(value) ? ValueKind::nan : ValueKind::infinite;
  }
  return value != 0 && std::abs(value) < least_normal(dtype) ? ValueKind::denormal
                                                             : ValueKind::number;
}

TensorValues decode_values(const std::string& dtype, const std::string& shape_json,
                           std::span<const std::byte> bytes) {
  const std::optional<DType> type = dtype_named(dtype);
  if (!type) {
    throw_invalid_argument("The type (", dtype, ") is none that this program knows.");
  }
  TensorValues found{*type, dims_of(shape_json), {}};
  const std::size_t elements = elements_of(found.dims);
  if (bytes.size() != bytes_of(*type, elements)) {
    throw_invalid_argument("A tensor of ", dtype, " ", shape_json, " takes (",
                           bytes_of(*type, elements), ") bytes, but (", bytes.size(),
                           ") are there.");
  }
  found.values.resize(elements);
  if (*type == DType::i32) {
    decode_integers<std::int32_t>(bytes, found.values);
  } else if (*type == DType::i64) {
    decode_integers<std::int64_t>(bytes, found.values);
  } else {
    decode_floats(*type, bytes, found.values);
  }
  return found;
}

ValueMatrix matrix_of(std::span<const std::size_t> dims, std::span<const std::size_t> index) {
  const std::size_t rank = dims.size();
  const std::size_t rows = rank < 2 ? 1 : dims[rank - 2];
  const std::size_t columns = dims[rank - 1];
  ValueMatrix matrix{0, rows * columns, std::max<std::size_t>(columns, 1)};
  std::size_t place = 0;
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    const std::size_t at = d < index.size() ? index[d] : 0;
    place = place * dims[d] + std::min(at, std::max<std::size_t>(dims[d], 1) - 1);
  }
  matrix.first = place * matrix.count;
  if (rows == 1 && columns > kUncutRow) {
    matrix.columns = 1;
    while (matrix.columns * matrix.columns < 2 * columns) {
      matrix.columns *= 2;
    }
  }
  return matrix;
}

std::string matrix_text(std::span<const std::size_t> dims, std::span<const std::size_t> index) {
  const ValueMatrix matrix = matrix_of(dims, index);
  std::string text = "[";
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const bool chosen = d + 2 < dims.size();
    const std::size_t at = chosen && d < index.size() ? index[d] : 0;
    text += (d == 0 ? "" : ", ") + (chosen ? std::to_string(at) : ":");
  }
  text += "]";
  if (matrix.columns != dims.back() && matrix.count > 0) {
    text += " in lines of " + std::to_string(matrix.columns);
  }
  return text;
}

std::optional<std::size_t> first_not_finite(const TensorValues& values) {
  const auto found =
      std::ranges::find_if(values.values, [](double value) { return !std::isfinite(value); });
  return found == values.values.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - values.values.begin()));
}

std::string element_text(std::span<const std::size_t> dims, std::size_t element) {
  std::string text;
  for (std::size_t d = dims.size(); d-- > 0; element /= dims[d]) {
    text = std::to_string(element % dims[d]) + (text.empty() ? "" : ", ") + text;
  }
  return "[" + text + "]";
}

std::string value_text(double value) { return fmt::format("{:.4g}", value); }

}  // namespace reprise::debugger
