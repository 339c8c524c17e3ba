// What is known of one node's times over many replays: exact count, sum, extremes, mean and
// deviation, and quantiles from a histogram.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "framework/profile/histogram.h"

namespace reprise::profile {

class NodeStats {
 public:
  /// At least one; of many at once it costs a fraction.
  void add(std::span<const std::uint64_t> times_ns, std::uint64_t bias_ns);
  std::uint64_t count() const { return histogram_.count(); }
  std::uint64_t sum_ns() const { return sum_ns_; }
  std::uint64_t min_ns() const { return min_ns_; }
  std::uint64_t max_ns() const { return max_ns_; }
  std::uint64_t last_ns() const { return last_ns_; }
  /// Values below three times what one timestamp adds: mostly the cost of measuring.
  std::uint64_t below_bias() const { return below_bias_; }
  double mean_ns() const { return mean_ns_; }
  /// Of the sample; 0 for a single value.
  double stddev_ns() const {
    return count() < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count() - 1));
  }
  std::uint64_t quantile_ns(double share) const {
    return std::clamp(histogram_.quantile(share), min_ns_, max_ns_);
  }
  const Histogram& histogram() const { return histogram_; }

 private:
  Histogram histogram_;
  std::uint64_t sum_ns_ = 0, last_ns_ = 0, below_bias_ = 0;
  std::uint64_t min_ns_ = std::numeric_limits<std::uint64_t>::max(), max_ns_ = 0;
  double mean_ns_ = 0, squares_ = 0;
};

}  // namespace reprise::profile
