// Elements of a row in the order that argsort(), top_k() and sample() give them, without sorting
// the row where a part of it is enough.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "framework/core/float_key.h"

namespace reprise::cpu {

/// An element and its column as one number: the larger element is the larger rank, of equal ones
/// the one that comes first.
using Rank = std::uint64_t;
constexpr Rank rank_of(float value, std::uint32_t column) {
  return Rank{key_of(value)} << 32U | ~column;
}
constexpr std::uint32_t column_of(Rank rank) { return ~static_cast<std::uint32_t>(rank); }
/// The element; 0 for either zero.
constexpr float value_of(Rank rank) {
  const auto key = static_cast<std::uint32_t>(rank >> 32U);
  return key == 0 ? std::numeric_limits<float>::quiet_NaN()
                  : std::bit_cast<float>(key ^ ((key >> 31U) != 0 ? 0x80000000U : 0xFFFFFFFFU));
}
constexpr bool is_number(Rank rank) { return rank >> 32U != 0; }

/// Sorts, the smallest first. `spare` has as much room.
void sort_ranks(std::span<Rank> ranks, std::span<Rank> spare);

/// The k largest ranks of those that are added.
class Largest {
 public:
  /// How many ranks `room` has to have for rows of so many columns: the sooner it is full, the
  /// sooner most of a row is passed over.
  static constexpr std::size_t room_for(std::size_t k, std::size_t columns) {
    const std::size_t spare = std::max(3 * k, std::min(kMaxSpare, columns / 4));
    return std::max(std::min(k + spare, columns), std::size_t{1});
  }
  Largest(std::span<Rank> room, std::size_t k) : room_(room), k_(std::min(k, room.size())) {}

  /// Whether some elements are refused: those that do not pass the floor. NaN lets every number
  /// pass, a number what is above it.
  bool has_floor() const { return has_floor_; }
  float floor() const { return floor_; }
  void set_floor(float floor) {
    floor_ = floor;
    has_floor_ = true;
  }
  std::size_t count() const { return count_; }
  /// A column after those added before.
  void add(float value, std::uint32_t column) {
    if (count_ == room_.size()) {
      keep_largest();
    }
    room_[count_++] = rank_of(value, column);
  }
  /// The k largest, or all if there are fewer; the largest first.
  std::span<const Rank> sorted();
  /// The same in any order.
  std::span<const Rank> chosen();

 private:
  static constexpr std::size_t kMaxSpare = 256;
  void keep_largest();

  std::span<Rank> room_;
  std::size_t k_, count_ = 0;
  float floor_ = std::numeric_limits<float>::quiet_NaN();
  bool has_floor_ = false;
};

}  // namespace reprise::cpu
