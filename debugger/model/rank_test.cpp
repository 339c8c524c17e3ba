#include "debugger/model/rank_test.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace reprise::debugger {

std::optional<double> rank_test(std::span<const std::uint64_t> a,
                                std::span<const std::uint64_t> b) {
  if (a.size() < kMinForRankTest || b.size() < kMinForRankTest) {
    return std::nullopt;
  }
  std::vector<std::pair<std::uint64_t, bool>> all;  // a value, and whether it is of a
  all.reserve(a.size() + b.size());
  for (const std::uint64_t value : a) {
    all.emplace_back(value, true);
  }
  for (const std::uint64_t value : b) {
    all.emplace_back(value, false);
  }
  std::sort(all.begin(), all.end());
  double ranks_of_a = 0;
  double ties = 0;  // sum of t^3 - t over the groups of equal values
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    double of_a = 0;
    while (end < all.size() && all[end].first == all[begin].first) {
      of_a += all[end++].second ? 1 : 0;
    }
    ranks_of_a += of_a * static_cast<double>(begin + 1 + end) / 2;
    const double t = static_cast<double>(end - begin);
    ties += t * t * t - t;
    begin = end;
  }
  const double n_a = static_cast<double>(a.size());
  const double n_b = static_cast<double>(b.size());
  const double n = n_a + n_b;
  const double u = ranks_of_a - n_a * (n_a + 1) / 2;
  const double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) {
    return 1;  // all values are equal
  }
  const double distance = std::max(0.0, std::abs(u - n_a * n_b / 2) - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

}  // namespace reprise::debugger
