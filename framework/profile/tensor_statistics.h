// What the values of a tensor are like.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "reprise/core/dtype.h"

namespace reprise::profile {

inline constexpr std::size_t kValueRanges = 64;

struct TensorStatistics {
  /// Of the finite values.
  struct Finite {
    double min = 0, max = 0, mean = 0, rms = 0;
    std::array<std::uint32_t, kValueRanges> histogram{};  // in equal ranges from min to max
  };
  std::uint64_t count = 0, nan = 0, infinite = 0, zero = 0;
  std::optional<Finite> finite{};  // empty without one
};

/// An element of i32s or i64s.
std::int64_t integer_at(DType dtype, std::span<const std::byte> bytes, std::size_t index);

TensorStatistics statistics_of(DType dtype, std::span<const std::byte> bytes);

}  // namespace reprise::profile
