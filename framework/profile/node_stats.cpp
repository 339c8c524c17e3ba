#include "framework/profile/node_stats.h"

namespace reprise::profile {

void NodeStats::add(std::span<const std::uint64_t> times_ns, std::uint64_t bias_ns) {
  const auto before = static_cast<double>(count());
  histogram_.add(times_ns);
  std::uint64_t sum = 0;
  for (const std::uint64_t ns : times_ns) {
    sum += ns;
    min_ns_ = std::min(min_ns_, ns);
    max_ns_ = std::max(max_ns_, ns);
    below_bias_ += ns < 3 * bias_ns ? 1 : 0;
  }
  sum_ns_ += sum;
  last_ns_ = times_ns.back();
  // Chan, Golub and LeVeque 1983: means and squares of two samples, without differences of large
  // sums.
  const auto added = static_cast<double>(times_ns.size());
  const double mean = static_cast<double>(sum) / added;
  double squares = 0;
  for (const std::uint64_t ns : times_ns) {
    const double from_mean = static_cast<double>(ns) - mean;
    squares += from_mean * from_mean;
  }
  const double apart = mean - mean_ns_;
  const double all = before + added;
  mean_ns_ += apart * added / all;
  squares_ += squares + apart * apart * before * added / all;
}

}  // namespace reprise::profile
