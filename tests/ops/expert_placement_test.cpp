// The bits of a product of an expert depend on its row of x and its weights alone: not on where the
// weights lie, on other experts or on other rows.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "framework/ops/weight_formats.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int64_t kRows = 37, kUsed = 3, kM = 21, kExperts = 6;

struct Way {
  std::string device;
  std::optional<KernelFamily> kernels{};
  Precision precision = Precision::exact;
};
using Parameter = std::tuple<Way, DType>;

std::string name_of_parameter(const ::testing::TestParamInfo<Parameter>& row) {
  const auto& [way, dtype] = row.param;
  return way.device + (way.kernels ? "_" + std::string(name_of(*way.kernels)) : "") +
         (way.precision == Precision::fast ? "_fast_" : "_") + std::string(name_of(dtype));
}

/// Weights, one matrix per cell.
using Table = std::vector<Bytes>;

struct Problem {
  std::vector<float> x;  // a row per id
  Table table;
  Ids ids, cells;
  std::int64_t rows = kRows;
};

class ExpertPlacement : public ::testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
    try {
      device_ = test_device(way().device, {}, way().kernels);
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), ErrorCode::unsupported) << e.what();
      GTEST_SKIP() << "This device cannot run these kernels.";
    }
    problem_.x = floats(kRows * kUsed * columns());
    for (std::int64_t e = 0; e < kExperts; ++e) {
      problem_.table.push_back(matrix());
      problem_.cells.push_back(static_cast<std::int32_t>(e));
    }
    for (std::int64_t i = 0; i < kRows * kUsed; ++i) {
      problem_.ids.push_back(below(kExperts));
    }
  }

  const Way& way() const { return std::get<0>(GetParam()); }
  DType dtype() const { return std::get<1>(GetParam()); }
  /// Whole blocks, and no whole tiles where there are none.
  std::int64_t columns() const {
    const std::uint32_t block = info_of(dtype()).block_elements;
    return block == 1 ? 1060 : block == 32 ? 1056 : 1280;
  }

  std::int32_t below(std::int64_t end) {
    return static_cast<std::int32_t>(rng_() % static_cast<std::uint64_t>(end));
  }
  std::vector<float> floats(std::int64_t count) {
    const Bytes bytes = random_bytes(rng_, DType::f32, count, -1, 1);
    std::vector<float> values(static_cast<std::size_t>(count));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  Bytes matrix() { return random_bytes(rng_, dtype(), kM * columns(), -1, 1); }

  Tensor weights(GraphSession& s, const Table& table) const {
    Bytes all;
    for (const Bytes& cell : table) {
      all.insert(all.end(), cell.begin(), cell.end());
    }
    return s.input("w", {static_cast<std::int64_t>(table.size()), kM, columns()}, dtype(), all);
  }
  std::vector<float> products(const Problem& p) const {
    GraphExecutor executor(*device_, {.precision = way().precision});
    auto s = executor.begin();
    const Tensor x = s.input("x", {p.rows, kUsed, columns()}, p.x);
    const Tensor ids = s.input("ids", {p.rows, kUsed}, p.ids);
    const Tensor cells = s.input("cells", {kExperts}, p.cells);
    s.output("y", matmul_experts(s, x, weights(s, p.table), ids, cells));
    return s.finish().read("y");
  }
  /// As bits, so that NaN and both zeros count.
  static bool same_bits(std::span<const float> a, std::span<const float> b) {
    return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
  }

  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  const ExpectNoValidationMessages quiet_;
  std::mt19937_64 rng_{seed_};
  std::optional<Device> device_;
  Problem problem_;
};

const std::vector<Way> kWays{{"cpu"},
                             {"cpu", std::nullopt, Precision::fast},
                             {"vulkan", KernelFamily::portable},
                             {"vulkan", KernelFamily::lanes},
                             {"vulkan", KernelFamily::gpu}};
INSTANTIATE_TEST_SUITE_P(On, ExpertPlacement,
                         ::testing::Combine(::testing::ValuesIn(kWays),
                                            ::testing::ValuesIn(ops::kWeightFormats)),
                         name_of_parameter);

TEST_P(ExpertPlacement, ChangesNoBit) {
  Problem moved = problem_;
  constexpr std::size_t kCells = kExperts + 5;
  Ids order(kCells);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), rng_);
  moved.table.clear();
  std::generate_n(std::back_inserter(moved.table), kCells, [&] { return matrix(); });
  for (std::size_t e = 0; e < moved.cells.size(); ++e) {
    moved.cells[e] = order[e];
    moved.table[static_cast<std::size_t>(order[e])] = problem_.table[e];
  }
  EXPECT_TRUE(same_bits(products(moved), products(problem_)));
}

TEST_P(ExpertPlacement, OfOtherExpertsChangesNoBit) {
  const std::vector<float> all = products(problem_);
  Problem fewer = problem_;
  for (std::size_t e = 0; e < fewer.cells.size(); e += 2) {
    fewer.cells[e] = -1;
  }
  const std::vector<float> some = products(fewer);
  const std::vector<float> zeros(kM);
  for (std::size_t i = 0; i < problem_.ids.size(); ++i) {
    const bool there = problem_.ids[i] % 2 != 0;
    const auto of = [&](const std::vector<float>& y) { return std::span(y).subspan(i * kM, kM); };
    ASSERT_TRUE(same_bits(of(some), there ? of(all) : std::span(zeros))) << "product " << i;
  }
}

TEST_P(ExpertPlacement, OfRowsAmongOthersChangesNoBit) {
  const std::vector<float> all = products(problem_);
  const auto row_values = static_cast<std::size_t>(kUsed * columns());
  for (const std::size_t row : {std::size_t{0}, std::size_t{kRows / 2}, std::size_t{kRows - 1}}) {
    Problem alone = problem_;
    alone.rows = 1;
    const auto x = std::span(problem_.x).subspan(row * row_values, row_values);
    const auto ids = std::span(problem_.ids).subspan(row * kUsed, kUsed);
    alone.x.assign(x.begin(), x.end());
    alone.ids.assign(ids.begin(), ids.end());
    EXPECT_TRUE(same_bits(products(alone), std::span(all).subspan(row * kUsed * kM, kUsed * kM)))
        << "row " << row;
  }
}

TEST_P(ExpertPlacement, GivesTheBitsOfMatmulOfOneRow) {
  const std::vector<float> all = products(problem_);
  const std::size_t product = static_cast<std::size_t>(below(kRows * kUsed));
  const auto k = static_cast<std::size_t>(columns());
  GraphExecutor executor(*device_, {.precision = way().precision});
  auto s = executor.begin();
  const Tensor x = s.input("x", {columns()}, std::span(problem_.x).subspan(product * k, k));
  const auto expert = static_cast<std::size_t>(problem_.ids[product]);
  const Tensor w = s.input("w", {kM, columns()}, dtype(), problem_.table[expert]);
  s.output("y", matmul(s, x, w));
  EXPECT_TRUE(same_bits(s.finish().read("y"), std::span(all).subspan(product * kM, kM)));
}

}  // namespace
}  // namespace reprise::testing
