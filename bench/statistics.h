// What a list of measurements says.
#pragma once
#include <span>

namespace reprise::bench {

struct Summary {
  double mean = 0;
  double stddev = 0;  // of a sample: over n - 1; 0 for one value
  double q1 = 0, median = 0, q3 = 0;
};

/// Throws invalid_argument for no values.
Summary summarize(std::span<const double> values);

/// The value below which a part of the ascending `sorted` lies, 0 to 1, linear between neighbours:
/// numpy's default, type 7 of Hyndman and Fan 1996.
double quantile(std::span<const double> sorted, double part);

}  // namespace reprise::bench
