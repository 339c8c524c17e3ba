// Chains of random ops whose results are used again soon, so that an arena holds several in turn.
#pragma once
#include <random>

#include "tests/testing.h"

namespace reprise::testing {

/// `first` and results of ops on the last three of them until there are `count`: add, mul, matmul
/// with `weight` (square, as all are), and other(a). Six each in layer.0, layer.1, ...
template <class Other>
std::vector<Tensor> record_random_ops(GraphSession& s, std::uint64_t seed, const Tensor& first,
                                      const Tensor& weight, std::size_t count, Other&& other) {
  std::mt19937_64 rng(seed);
  std::vector<Tensor> all{first};
  while (all.size() < count) {
    const auto layer = s.scope("layer", static_cast<std::int32_t>(all.size() / 6));
    const auto any = [&] {
      return all[all.size() - 1 - rng() % std::min<std::size_t>(3, all.size())];
    };
    const Tensor a = any(), b = any();
    switch (rng() % 4) {
      case 0:
        all.push_back(add(s, a, b));
        break;
      case 1:
        all.push_back(mul(s, a, b));
        break;
      case 2:
        all.push_back(matmul(s, a, weight));
        break;
      default:
        all.push_back(other(a));
    }
  }
  return all;
}

}  // namespace reprise::testing
