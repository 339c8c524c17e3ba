#include "framework/profile/tensor_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reprise/backend/decode.h"

namespace reprise::profile {
namespace {

/// Calls f(value) for every element. Integers are the only dtypes without a decoder.
template <class F>
void for_each_value(DType dtype, std::span<const std::byte> bytes, F&& f) {
  constexpr std::size_t kPiece = 1024;  // whole blocks of any format
  const DTypeInfo& info = info_of(dtype);
  const Decode decode = decoder_of(dtype);
  std::array<float, kPiece> floats;
  const std::size_t elements = bytes.size() / info.block_bytes * info.block_elements;
  for (std::size_t begin = 0; begin < elements; begin += kPiece) {
    const std::size_t some = std::min(kPiece, elements - begin);
    if (decode != nullptr) {
      decode(bytes.data() + begin / info.block_elements * info.block_bytes, some, floats.data());
    }
    for (std::size_t i = 0; i < some; ++i) {
      f(decode != nullptr ? floats[i] : static_cast<double>(integer_at(dtype, bytes, begin + i)));
    }
  }
}

}  // namespace

std::int64_t integer_at(DType dtype, std::span<const std::byte> bytes, std::size_t index) {
  const auto element = [&](auto value) {
    std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
    return std::int64_t{value};
  };
  return dtype == DType::i32 ? element(std::int32_t{}) : element(std::int64_t{});
}

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
