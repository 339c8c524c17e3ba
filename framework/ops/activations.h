// What activations mean, in float64, for the references of the ops that contain them.
#pragma once
#include <cmath>

namespace reprise::ops {

inline double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
inline double silu_of(double x) { return x / (1 + std::exp(-x)); }
/// (1 + tanh(u)) / 2 is 1 / (1 + exp(-2u)), which loses nothing where tanh is nearly -1.
inline double gelu_of(double x) {
  constexpr double kTwiceRootOfTwoOverPi = 1.5957691216057308;
  return x / (1 + std::exp(-kTwiceRootOfTwoOverPi * x * (1 + 0.044715 * x * x)));
}

}  // namespace reprise::ops
