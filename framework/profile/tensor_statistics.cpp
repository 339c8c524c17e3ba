#include "framework/profile/tensor_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reprise/backend/decode.h"

namespace reprise::profile {
namespace {

template <class Integer>
void decode_integers(const std::byte* from, std::size_t elements, double* to) {
  for (std::size_t i = 0; i < elements; ++i) {
    Integer value = 0;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    to[i] = static_cast<double>(value);
  }
}

/// Calls f(value) for every element. Integers are the only dtypes without a decoder.
template <class F>
void for_each_value(DType dtype, std::span<const std::byte> bytes, F&& f) {
  constexpr std::size_t kPiece = 1024;  // whole blocks of any format
  const DTypeInfo& info = info_of(dtype);
  const Decode decode = decoder_of(dtype);
  std::array<float, kPiece> floats;
  std::array<double, kPiece> values;
  const std::size_t elements = bytes.size() / info.block_bytes * info.block_elements;
  for (std::size_t begin = 0; begin < elements; begin += kPiece) {
    const std::size_t some = std::min(kPiece, elements - begin);
    const std::byte* from = bytes.data() + begin / info.block_elements * info.block_bytes;
    if (decode != nullptr) {
      decode(from, some, floats.data());
      std::copy_n(floats.begin(), some, values.begin());
    } else if (dtype == DType::i32) {
      decode_integers<std::int32_t>(from, some, values.data());
    } else {
      decode_integers<std::int64_t>(from, some, values.data());
    }
    std::for_each_n(values.begin(), some, f);
  }
}

}  // namespace

TensorStatistics statistics_of(DType dtype, std::span<const std::byte> bytes) {
  TensorStatistics all;
  TensorStatistics::Finite finite;
  double sum = 0;
  double squares = 0;
  std::uint64_t finite_count = 0;
  for_each_value(dtype, bytes, [&](double value) {
    ++all.count;
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? all.nan : all.infinite);
      return;
    }
    all.zero += value == 0 ? 1 : 0;
    finite.min = finite_count == 0 ? value : std::min(finite.min, value);
    finite.max = finite_count == 0 ? value : std::max(finite.max, value);
    sum += value;
    squares += value * value;
    ++finite_count;
  });
  if (finite_count > 0) {
    const auto n = static_cast<double>(finite_count);
    finite.mean = sum / n;
    finite.rms = std::sqrt(squares / n);
    const double width = finite.max - finite.min;
    for_each_value(dtype, bytes, [&](double value) {
      if (std::isfinite(value)) {
        const double share = width > 0 ? (value - finite.min) / width : 0;
        const auto range = static_cast<std::size_t>(share * kValueRanges);
        ++finite.histogram[std::min(range, kValueRanges - 1)];
      }
    });
    all.finite = finite;
  }
  return all;
}

}  // namespace reprise::profile
