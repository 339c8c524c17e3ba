#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "reprise/core/error.h"

namespace reprise::bench {

double quantile(std::span<const double> sorted, double part) {
  if (sorted.empty()) {
    throw_invalid_argument("A quantile needs at least 1 value, not (0).");
  }
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

Summary summarize(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  Summary s{
      .q1 = quantile(sorted, 0.25), .median = quantile(sorted, 0.5), .q3 = quantile(sorted, 0.75)};
  const auto n = static_cast<double>(sorted.size());
  s.mean = std::reduce(sorted.begin(), sorted.end()) / n;
  double squares = 0;
  for (const double value : sorted) {
    squares += (value - s.mean) * (value - s.mean);
  }
  s.stddev = sorted.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return s;
}

}  // namespace reprise::bench
