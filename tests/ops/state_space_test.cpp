// Ops of state-space models, convolutions and others with many attributes, against their
// definitions in other words than those of the references: sums over all earlier tokens, products
// of matrices, equations put back, loops over indices that are written out.
#include <array>
#include <cmath>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Values = std::vector<float>;

class StateSpace : public ::testing::TestWithParam<std::string> {
 protected:
  Values random(std::int64_t count, float low = -1, float high = 1) {
    std::uniform_real_distribution<float> uniform(low, high);
    Values values(static_cast<std::size_t>(count));
    std::ranges::generate(values, [&] { return uniform(rng_); });
    return values;
  }
  Tensor zeros(const Shape& shape) const { return device_.zeros(shape, DType::f32); }
  template <class Build>
  Values run(Build&& build) {
    auto s = executor_.begin();
    s.output("y", build(s));
    return s.finish().read("y");
  }
  static void expect_near(const Values& actual, const std::vector<double>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(actual[i]), expected[i], 2e-5 * (1 + std::abs(expected[i])))
          << "element " << i;
    }
  }
  static double at(const Values& values, std::int64_t i) {
    return static_cast<double>(values.at(static_cast<std::size_t>(i)));
  }

  const ExpectNoValidationMessages quiet_;
  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, StateSpace, ::testing::Values("cpu", "reference", "vulkan"),
                         device_param_name);

// Dao & Gu 2024: y = M x with M[t, j] = c_t . (a_t ... a_{j+1}) b_j.
TEST_P(StateSpace, AScanIsAProductWithASemiseparableMatrix) {
  constexpr std::int64_t kTokens = 6, kHeads = 2, kDim = 3, kState = 5;
  for (const std::int64_t columns : {std::int64_t{1}, kState}) {
    const Values x = random(kTokens * kHeads * kDim);
    const Values dt = random(kTokens * kHeads, -2, 2);
    const Values a = random(kHeads * columns, -2, 0);
    const Values b = random(kTokens * kState);
    const Values c = random(kTokens * kState);
    const auto step = [&](std::int64_t t, std::int64_t h) {
      return std::log1p(std::exp(at(dt, t * kHeads + h)));
    };
    std::vector<double> expected;
    for (std::int64_t t = 0; t < kTokens; ++t) {
      for (std::int64_t i = 0; i < kHeads * kDim; ++i) {
        const std::int64_t h = i / kDim;
        double sum = 0;
        for (std::int64_t j = 0; j <= t; ++j) {
          double time = 0;  // from token j to t
          for (std::int64_t later = j + 1; later <= t; ++later) {
            time += step(later, h);
          }
          for (std::int64_t n = 0; n < kState; ++n) {
            sum += at(c, t * kState + n) * std::exp(time * at(a, h * columns + n % columns)) *
                   step(j, h) * at(b, j * kState + n) * at(x, j * kHeads * kDim + i);
          }
        }
        expected.push_back(sum);
      }
    }
    const Tensor state = zeros({1, kHeads, kDim, kState});
    expect_near(run([&](GraphSession& s) {
                  const Tensor x_in = s.input("x", {kTokens, kHeads, kDim}, x);
                  const Tensor dt_in = s.input("dt", {kTokens, kHeads}, dt);
                  const Tensor a_in = s.input("a", {kHeads, columns}, a);
                  const Tensor b_in = s.input("b", {kTokens, 1, kState}, b);
                  const Tensor c_in = s.input("c", {kTokens, 1, kState}, c);
                  return ssm_scan(s, state, {x_in, dt_in, a_in, b_in, c_in});
                }),
                expected);
  }
}

// Yang, Kautz & Hatamizadeh 2024, equation 10: S = S (alpha (I - beta k k^T)) + beta v k^T, y = S
// q.
TEST_P(StateSpace, TheGatedDeltaRuleMultipliesByHouseholderMatrices) {
  constexpr std::int64_t kTokens = 5, kKeys = 4, kValues = 3;
  const Values q = random(kTokens * kKeys);
  const Values k = random(kTokens * kKeys, -0.6F, 0.6F);
  const Values v = random(kTokens * kValues);
  const Values gate = random(kTokens, -1, 0);
  const Values beta = random(kTokens, 0, 1);
  std::vector<double> state(kValues * kKeys);
  std::vector<double> expected;
  for (std::int64_t t = 0; t < kTokens; ++t) {
    std::vector<double> next(state.size());
    for (std::int64_t row = 0; row < kValues; ++row) {
      double sum = 0;
      for (std::int64_t column = 0; column < kKeys; ++column) {
        const double key = at(k, t * kKeys + column);
        double& element = next[static_cast<std::size_t>(row * kKeys + column)];
        element = at(beta, t) * at(v, t * kValues + row) * key;
        for (std::int64_t i = 0; i < kKeys; ++i) {
          const double turn = (i == column ? 1.0 : 0.0) - at(beta, t) * at(k, t * kKeys + i) * key;
          element +=
              state[static_cast<std::size_t>(row * kKeys + i)] * std::exp(at(gate, t)) * turn;
        }
        sum += element * at(q, t * kKeys + column);
      }
      expected.push_back(sum / 2);  // 1 / sqrt(4)
    }
    state = next;
  }
  const Tensor table = zeros({1, 1, kKeys, kValues});
  expect_near(run([&](GraphSession& s) {
                const Tensor q_in = s.input("q", {kTokens, 1, kKeys}, q);
                const Tensor k_in = s.input("k", {kTokens, 1, kKeys}, k);
                const Tensor v_in = s.input("v", {kTokens, 1, kValues}, v);
                const Tensor gate_in = s.input("gate", {kTokens, 1}, gate);
                const Tensor beta_in = s.input("beta", {kTokens, 1}, beta);
                return gated_delta(s, table, {q_in, k_in, v_in, gate_in, beta_in});
              }),
              expected);
}

// Token by token, or all at once: the state carries what is needed.
TEST_P(StateSpace, AConvolutionOfStepsIsThatOfThePrompt) {
  constexpr std::int64_t kTokens = 7, kChannels = 3, kWidth = 4;
  const Values x = random(kTokens * kChannels);
  const Values w = random(kChannels * kWidth);
  std::vector<double> expected;
  for (std::int64_t t = 0; t < kTokens; ++t) {
    for (std::int64_t c = 0; c < kChannels; ++c) {
      double sum = 0;
      for (std::int64_t ago = 0; ago <= std::min(t, kWidth - 1); ++ago) {
        sum += at(w, c * kWidth + kWidth - 1 - ago) * at(x, (t - ago) * kChannels + c);
      }
      expected.push_back(sum);
    }
  }
  const Tensor state = zeros({1, kChannels, kWidth - 1});
  const Tensor weights = device_.from_host({kChannels, kWidth}, w);
  Values steps;
  for (std::int64_t t = 0; t < kTokens; ++t) {
    const Values y = run([&](GraphSession& s) {
      const auto token = std::span(x).subspan(static_cast<std::size_t>(t * kChannels), kChannels);
      return ssm_conv(s, state, s.input("x", {1, kChannels}, Values(token.begin(), token.end())),
                      weights);
    });
    steps.insert(steps.end(), y.begin(), y.end());
  }
  expect_near(steps, expected);
}

TEST_P(StateSpace, ASolutionPutBackGivesTheRightSide) {
  constexpr std::int64_t kSize = 9, kColumns = 4;
  Values a = random(kSize * kSize);
  for (std::int64_t i = 0; i < kSize; ++i) {
    a[static_cast<std::size_t>(i * kSize + i)] = 3;
  }
  const Values b = random(kSize * kColumns);
  const Values x = run([&](GraphSession& s) {
    return solve_triangular(s, s.input("a", {kSize, kSize}, a), s.input("b", {kSize, kColumns}, b));
  });
  std::vector<double> product;
  for (std::int64_t row = 0; row < kSize; ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (std::int64_t i = 0; i <= row; ++i) {
        sum += at(a, row * kSize + i) * at(x, i * kColumns + column);
      }
      product.push_back(sum);
    }
  }
  expect_near(b, product);
}

// An image of one element that is not 0 leaves the kernel in the result, turned.
TEST_P(StateSpace, AConvolutionOfAPointIsTheKernel) {
  constexpr std::int64_t kSide = 5;
  Values point(kSide * kSide);
  point[2 * kSide + 2] = 1;
  const Values w = random(9);
  const Values y = run([&](GraphSession& s) {
    return conv_2d(s, s.input("x", {1, kSide, kSide}, point), s.input("w", {1, 1, 3, 3}, w));
  });
  EXPECT_EQ(y, Values(w.rbegin(), w.rend()));
}

TEST_P(StateSpace, AConvolutionSumsTheTapsOfItsGroup) {
  const Values x = random(4 * 11);
  const Values w = random(6 * 2 * 3);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < 6 * 7; ++i) {
    const std::int64_t o = i / 7;
    double sum = 0;
    for (std::int64_t c = 0; c < 2; ++c) {
      for (std::int64_t t = 0; t < 3; ++t) {
        const std::int64_t column = 2 * (i % 7) + 2 * t - 3;
        if (column >= 0 && column < 11) {
          sum += at(w, (o * 2 + c) * 3 + t) * at(x, ((o < 3 ? 0 : 2) + c) * 11 + column);
        }
      }
    }
    expected.push_back(sum);
  }
  expect_near(run([&](GraphSession& s) {
                return conv_1d(s, s.input("x", {4, 11}, x), s.input("w", {6, 2, 3}, w),
                               {.stride = 2, .padding = 3, .dilation = 2, .groups = 2});
              }),
              expected);
}

// Every attribute differs along the two axes, so that none can stand for another.
TEST_P(StateSpace, AConvolutionOfAnImageHasAttributesOfEachAxis) {
  const Values x = random(4 * 7 * 9);
  const Values w = random(6 * 2 * 3 * 2);
  const auto sum_of = [&](std::int64_t o, std::int64_t r, std::int64_t l) {
    double sum = 0;
    for (std::int64_t c = 0; c < 2; ++c) {
      for (std::int64_t ty = 0; ty < 3; ++ty) {
        for (std::int64_t tx = 0; tx < 2; ++tx) {
          const std::int64_t row = 2 * r + ty - 1;
          const std::int64_t column = l + 3 * tx - 2;
          if (row >= 0 && row < 7 && column >= 0 && column < 9) {
            sum += at(w, ((o * 2 + c) * 3 + ty) * 2 + tx) *
                   at(x, (((o < 3 ? 0 : 2) + c) * 7 + row) * 9 + column);
          }
        }
      }
    }
    return sum;
  };
  std::vector<double> expected;
  for (std::int64_t i = 0; i < 6 * 4 * 10; ++i) {
    expected.push_back(sum_of(i / 40, i / 10 % 4, i % 10));
  }
  expect_near(run([&](GraphSession& s) {
                return conv_2d(s, s.input("x", {4, 7, 9}, x), s.input("w", {6, 2, 3, 2}, w),
                               {.stride_y = 2,
                                .stride_x = 1,
                                .padding_y = 1,
                                .padding_x = 2,
                                .dilation_y = 1,
                                .dilation_x = 3,
                                .groups = 2});
              }),
              expected);
}

TEST_P(StateSpace, APoolHasAttributesOfEachAxis) {
  const Values x = random(2 * 5 * 8);
  std::vector<double> largest, mean;
  for (std::int64_t i = 0; i < 2 * 7 * 3; ++i) {
    const std::int64_t r = i / 3 % 7;
    const std::int64_t right = i % 3 * 3;  // column of a window
    largest.push_back(-2);                 // below every x
    mean.push_back(0);
    for (std::int64_t row = r < 2 ? 0 : r - 2; row <= r && row < 5; ++row) {
      for (std::int64_t column = right == 0 ? 0 : right - 1; column <= right; ++column) {
        const double element = at(x, (i / 21 * 5 + row) * 8 + column);
        largest.back() = std::max(largest.back(), element);
        mean.back() += element / 6;
      }
    }
  }
  Pool2dAttributes a{.height = 3, .width = 2, .stride_y = 1, .stride_x = 3, .padding_y = 2};
  a.padding_x = 1;
  const auto pooled = [&](PoolMode mode) {
    a.mode = mode;
    return run([&](GraphSession& s) { return pool_2d(s, s.input("x", {2, 5, 8}, x), a); });
  };
  expect_near(pooled(PoolMode::max), largest);
  expect_near(pooled(PoolMode::mean), mean);
}

TEST_P(StateSpace, PoolsCountWhatLiesOutsideAsNothing) {
  const Values x{-3, -1, -4, 1, -5, 9};
  const auto pooled = [&](PoolMode mode) {
    return run([&](GraphSession& s) {
      return pool_2d(s, s.input("x", {2, 3}, x),
                     {.height = 2, .width = 2, .padding_x = 1, .mode = mode});
    });
  };
  EXPECT_EQ(pooled(PoolMode::max), (Values{1, 9}));
  EXPECT_EQ(pooled(PoolMode::mean), (Values{-0.5F, -0.25F}));
}

TEST_P(StateSpace, ALogSoftmaxTakesTheLogarithmOfTheSumAway) {
  constexpr std::int64_t kRows = 5, kCols = 37;
  const Values x = random(kRows * kCols, -8, 8);
  std::vector<double> expected;
  for (std::int64_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (std::int64_t column = 0; column < kCols; ++column) {
      sum += std::exp(at(x, row * kCols + column) / 2);
    }
    for (std::int64_t column = 0; column < kCols; ++column) {
      expected.push_back(at(x, row * kCols + column) / 2 - std::log(sum));
    }
  }
  expect_near(run([&](GraphSession& s) {
                return log_softmax(s, s.input("x", {kRows, kCols}, x), {.scale = 0.5F});
              }),
              expected);
}

TEST_P(StateSpace, ASectionTurnsItsPairsByItsOwnPositions) {
  constexpr std::int64_t kRows = 3, kHeads = 2, kDim = 20, kPairs = 8;
  constexpr std::int64_t kSectionOf[kPairs] = {0, 0, 1, 2, 2, 3, 0, 0};  // 2, 1, 2, 1 and again
  using Ints = std::vector<std::int32_t>;
  const Values x = random(kRows * kHeads * kDim);
  const auto positions = [](std::int32_t first, std::int32_t end) {  // of sections, for each row
    Ints all;
    for (std::int32_t row = 0; row < kRows; ++row) {
      for (std::int32_t section = first; section < end; ++section) {
        all.push_back(3 + 5 * row + 40 * section);
      }
    }
    return all;
  };
  for (const RopePairing pairing : {RopePairing::interleaved, RopePairing::half_split}) {
    const auto turned = [&](const Shape& shape, const Ints& at_rows,
                            const std::array<std::int32_t, 4>& sections) {
      return run([&](GraphSession& s) {
        return rope(s, s.input("x", {kRows, kHeads, kDim}, x),
                    {.dims = 2 * kPairs,
                     .pairing = pairing,
                     .positions = s.input("positions", shape, at_rows),
                     .sections = sections});
      });
    };
    std::vector<Values> by_section;
    for (std::int32_t section = 0; section < 4; ++section) {
      by_section.push_back(turned({kRows}, positions(section, section + 1), {}));
    }
    std::vector<double> expected;
    for (std::int64_t i = 0; i < kRows * kHeads * kDim; ++i) {
      const std::int64_t e = i % kDim;
      const std::int64_t pair = pairing == RopePairing::interleaved ? e / 2 : e % kPairs;
      const std::int64_t section = e < 2 * kPairs ? kSectionOf[pair] : 0;
      expected.push_back(at(by_section[static_cast<std::size_t>(section)], i));
    }
    expect_near(turned({kRows, 4}, positions(0, 4), {2, 1, 2, 1}), expected);
  }
}

TEST_P(StateSpace, WrongCallsAreRefusedWithWhatWasGiven) {
  auto executor = GraphExecutor(device_);
  const auto refused = [&](const std::vector<std::string>& says, auto&& call) {
    auto s = executor.begin();
    expect_error(ErrorCode::invalid_argument, says, [&] { (void)call(s); });
  };
  const Tensor image = zeros({2, 3, 8});
  const Tensor table = zeros({2, 3, 4, 8});
  refused({"conv_1d", "a stride", "(3, 0, 1, 0)"}, [&](GraphSession& s) {
    return conv_1d(s, image, zeros({5, 3, 3}), {.stride = 0});
  });
  refused({"conv_1d", "channels of a group"}, [&](GraphSession& s) {
    return conv_1d(s, image, zeros({5, 2, 3}));
  });
  refused({"conv_2d", "at least (9) elements", "has 8"}, [&](GraphSession& s) {
    return conv_2d(s, image, zeros({5, 2, 3, 9}));
  });
  refused({"pool_1d", "padding below", "(1 x 2)", "(0 and 2)"},
          [&](GraphSession& s) { return pool_1d(s, image, {.padding = 2}); });
  refused({"solve_triangular", "a square matrix"},
          [&](GraphSession& s) { return solve_triangular(s, image, image); });
  refused({"ssm_conv", "a width of at least 2"}, [&](GraphSession& s) {
    return ssm_conv(s, zeros({1, 8, 1}), zeros({3, 8}), zeros({8, 1}));
  });
  refused({"ssm_conv", "a row of the table for each sequence"}, [&](GraphSession& s) {
    return ssm_conv(s, zeros({1, 8, 3}), image, zeros({8, 4}));
  });
  const Tensor x = zeros({5, 3, 4});
  const Tensor dt = zeros({5, 3});
  const Tensor b = zeros({5, 1, 8});
  refused({"ssm_scan", "a [heads, state_dim] or [heads, 1]"}, [&](GraphSession& s) {
    return ssm_scan(s, table, {x, dt, zeros({3, 7}), b, b});
  });
  refused({"ssm_scan", "equal sequences and tokens"}, [&](GraphSession& s) {
    return ssm_scan(s, table, {x, zeros({4, 3}), zeros({3, 1}), b, b});
  });
  refused({"gated_delta", "heads of v that are a multiple"}, [&](GraphSession& s) {
    const Tensor q = zeros({5, 2, 4});
    return gated_delta(s, zeros({1, 3, 4, 4}), {q, q, x, dt, dt});
  });
}

}  // namespace
}  // namespace reprise::testing
