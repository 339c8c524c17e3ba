// Wichura, Algorithm AS 241: The percentage points of the normal distribution, Applied Statistics
// 37 (1988), PPND16. It needs a logarithm; that of the C library gives other bits on other
// machines, so this one is made of operations that IEEE 754 rounds in one way. Compilers must not
// contract them (framework/CMakeLists.txt).
#include "framework/session/device/normal_quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace reprise {
namespace {

template <std::size_t N>
double polynomial(const double (&coefficients)[N], double x) {
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) {
    sum = sum * x + coefficients[i];
  }
  return sum;
}

/// The natural logarithm: ln 2 * exponent + 2 artanh(s), whose series is cut below 2^-60.
double logarithm(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr double kRootOfHalf = 0.707106781186547524401;
  constexpr double kSeries[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kRootOfHalf) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  return kLn2 * exponent + 2 * s * polynomial(kSeries, s * s);
}

}  // namespace

double normal_quantile(double p) {
  constexpr double kCentre[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                1.9715909503065514427e3, 1.3731693765509461125e4,
                                4.5921953931549871457e4, 6.7265770927008700853e4,
                                3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr double kBelowCentre[] = {1.0,
                                     4.2313330701600911252e1,
                                     6.8718700749205790830e2,
                                     5.3941960214247511077e3,
                                     2.1213794301586595867e4,
                                     3.9307895800092710610e4,
                                     2.8729085735721942674e4,
                                     5.2264952788528545610e3};
  constexpr double kTail[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                              5.76949722146069140550e0,  3.64784832476320460504e0,
                              1.27045825245236838258e0,  2.41780725177450611770e-1,
                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double kBelowTail[] = {1.0,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
  const double from_centre = p - 0.5;
  if (std::abs(from_centre) <= 0.425) {
    const double r = 0.180625 - from_centre * from_centre;
    return from_centre * polynomial(kCentre, r) / polynomial(kBelowCentre, r);
  }
  // The algorithm has a third branch for r above 5, which needs p below 2^-36.
  const double r = std::sqrt(-logarithm(std::min(p, 1 - p))) - 1.6;
  const double tail = polynomial(kTail, r) / polynomial(kBelowTail, r);
  return from_centre < 0 ? -tail : tail;
}

}  // namespace reprise
