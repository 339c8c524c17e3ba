#include "backends/cpu/selection.h"

#include <array>
#include <functional>
#include <utility>

namespace reprise::cpu {

// A byte of the keys at a time, the lowest first; columns are in order already. Bytes that all keys
// share move nothing.
void sort_ranks(std::span<Rank> ranks, std::span<Rank> spare) {
  constexpr std::size_t kFew = 64;
  if (ranks.size() <= kFew) {
    std::ranges::sort(ranks);
    return;
  }
  constexpr std::size_t kDigits = 4;
  const auto digit_of = [](Rank rank, std::size_t digit) {
    return static_cast<std::size_t>(rank >> (32U + 8 * digit) & 0xFFU);
  };
  std::array<std::array<std::uint32_t, 256>, kDigits> counts{};
  for (const Rank rank : ranks) {
    for (std::size_t digit = 0; digit < kDigits; ++digit) {
      ++counts[digit][digit_of(rank, digit)];
    }
  }
  std::span<Rank> from = ranks;
  std::span<Rank> to = spare.first(ranks.size());
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    auto& places = counts[digit];
    if (places[digit_of(from[0], digit)] == from.size()) {
      continue;
    }
    std::uint32_t place = 0;
    for (std::uint32_t& count : places) {
      place += std::exchange(count, place);
    }
    for (const Rank rank : from) {
      to[places[digit_of(rank, digit)]++] = rank;
    }
    std::swap(from, to);
  }
  if (from.data() != ranks.data()) {
    std::ranges::copy(from, ranks.begin());
  }
}

void Largest::keep_largest() {
  const auto last = room_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
  std::nth_element(room_.begin(), last, room_.begin() + static_cast<std::ptrdiff_t>(count_),
                   std::greater<>());
  count_ = k_;
  set_floor(value_of(*last));
}

std::span<const Rank> Largest::chosen() {
  if (count_ > k_) {
    keep_largest();
  }
  return room_.first(count_);
}

std::span<const Rank> Largest::sorted() {
  chosen();
  std::ranges::sort(room_.first(count_), std::greater<>());
  return room_.first(count_);
}

}  // namespace reprise::cpu
