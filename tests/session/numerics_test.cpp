// Numbers of one graph beside those of another: how far apart, and which node parts them.
#include <cmath>

#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Values = std::vector<float>;
using test::TempFolder;

Deviation between(const Values& actual, const Values& reference, double tolerance = 0) {
  return deviation_of(DType::f32, std::as_bytes(std::span(actual)),
                      std::as_bytes(std::span(reference)), tolerance);
}

TEST(Deviations, OfEqualValuesAreNothing) {
  for (const Values& values : {Values{}, Values{0, 0}, Values{1, -2, 3}, Values{kNan, kInfinity}}) {
    const Deviation d = between(values, values);
    EXPECT_EQ(d.max_abs, 0);
    EXPECT_EQ(d.max_rel, 0);
    EXPECT_EQ(d.rmse, 0);
    EXPECT_NEAR(d.cosine, 1, 1e-12);
    EXPECT_FALSE(d.first_bad);
  }
}

TEST(Deviations, AreRelativeToTheLargerOfTheValueAndTheRootMeanSquare) {
  const Deviation d = between({4.5F, 0, 0, -5}, {4, 0, 0.5F, -4}, 0.13);  // rms 2.84
  EXPECT_NEAR(d.max_abs, 1, 1e-9);
  EXPECT_NEAR(d.max_rel, 0.25, 1e-9);
  EXPECT_NEAR(d.rmse, std::sqrt((0.25 + 0.25 + 1) / 4), 1e-9);
  EXPECT_NEAR(d.cosine, 38 / std::sqrt(45.25 * 32.25), 1e-9);
  EXPECT_EQ(d.first_bad, 2U);  // 0.5 of 2.84; the first is 0.125 off
}

TEST(Deviations, AreInfiniteWhereOneIsNotANumber) {
  for (const auto& [a, b] : {std::pair(kNan, 1.0F), std::pair(1.0F, kNan),
                             std::pair(kInfinity, -kInfinity), std::pair(kInfinity, 1.0F)}) {
    const Deviation d = between({0, a}, {0, b}, 1e9);
    EXPECT_EQ(d.max_abs, kInfinity);
    EXPECT_EQ(d.first_bad, 1U);
  }
}

TEST(Deviations, OfDifferentLengthsAreRefused) {
  expect_error(ErrorCode::invalid_argument, {"(8)", "(4)"}, [] { between({1, 2}, {1}); });
}

class Numerics : public ::testing::TestWithParam<std::string> {
 protected:
  struct Side {
    explicit Side(const std::string& device, ExecutorOptions options = {})
        : executor(test_device(device), std::move(options)) {}
    GraphExecutor executor;
    CapturedGraph graph;
  };
  /// x -> h in layer.0 -> y in layer.1, with weights of its own.
  void record(Side& side, const Values& first, const Values& second,
              std::string_view scope = "layer") const {
    const Device& device = side.executor.device();
    auto s = side.executor.begin_recorded({.name = "two layers"});
    Tensor x = s.input("x", {4, 16}, x_);
    for (std::int32_t layer = 0; layer < 2; ++layer) {
      auto here = s.scope(scope, layer);
      const Tensor w = device.from_host({16, 16}, layer == 0 ? first : second, "w");
      x = rms_norm(s, matmul(s, x, w), {}, {.eps = 1e-5F});
    }
    s.output("y", x);
    side.graph = s.finish({.run = false}).graph;
  }
  Values random(std::size_t count) {
    std::uniform_real_distribution<float> any(-1, 1);
    Values values(count);
    std::ranges::generate(values, [&] { return any(rng_); });
    return values;
  }
  const ExpectNoValidationMessages quiet_;
  const std::uint64_t seed_ = test_seed();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  const Values x_ = random(64), first_ = random(256), second_ = random(256);
  const TempFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(On, Numerics, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Numerics, OfADeviceAreThoseOfTheReference) {
  Side actual(GetParam(), {.profile = folder_ / "n.db"});
  Side reference("reference");
  record(actual, first_, second_);
  record(reference, first_, second_);
  const NumericsReport report = compare_numerics(actual.graph, reference.graph);
  EXPECT_TRUE(report.pass()) << report.text();
  ASSERT_EQ(report.results.size(), 4U);
  EXPECT_EQ(report.results[2].name, "layer.1/matmul");
  EXPECT_GT(report.results[2].deviation.cosine, 0.999999);
  EXPECT_FALSE(report.first_diverging());
  actual.executor.shutdown();
  EXPECT_EQ(test::sql(folder_ / "n.db",
                      "SELECT node_idx, name, input_differs, tolerance, pass, max_rel<0.001, "
                      "first_bad_index FROM comparisons ORDER BY id"),
            "0|layer.0/matmul|0|0.001|1|1|NULL\n1|layer.0/rms_norm|0|0.001|1|1|NULL\n"
            "2|layer.1/matmul|0|0.001|1|1|NULL\n3|y|0|0.001|1|1|NULL");
}

TEST_P(Numerics, PartAtTheFirstNodeWhoseInputsAreRight) {
  Side actual(GetParam(), {.profile = folder_ / "n.db"});
  Side reference("reference");
  Values wrong = second_;
  wrong[3 * 16 + 5] += 1;  // row 3 of the weights: column 3 of the product
  record(actual, first_, wrong);
  record(reference, first_, second_);
  const NumericsReport report = compare_numerics(actual.graph, reference.graph);
  EXPECT_FALSE(report.pass());
  const auto parted = report.first_diverging();
  ASSERT_TRUE(parted) << report.text();
  EXPECT_EQ(parted->node, 2U);
  EXPECT_EQ(parted->deviation.first_bad.value_or(99) % 16, 3U);
  EXPECT_TRUE(report.results[3].input_differs);
  EXPECT_NE(report.text().find("2 differ by more than 0.001"), std::string::npos) << report.text();
  EXPECT_NE(report.text().find("node 2 layer.1/matmul: by "), std::string::npos) << report.text();
  actual.executor.shutdown();
  EXPECT_EQ(test::sql(folder_ / "n.db",
                      "SELECT node_idx, input_differs FROM comparisons WHERE "
                      "NOT pass ORDER BY node_idx"),
            "2|0\n3|1");
}

TEST_P(Numerics, CompareOnlyWhatIsAskedFor) {
  Side actual(GetParam());
  Side reference("reference");
  record(actual, first_, second_);
  record(reference, first_, second_);
  const NumericsReport report =
      compare_numerics(actual.graph, reference.graph, {.tensors = "layer.0/*"});
  EXPECT_EQ(report.results.size(), 2U);
}

TEST_P(Numerics, OfGraphsOfDifferentStructureAreRefused) {
  Side actual(GetParam());
  Side reference("reference");
  record(actual, first_, second_);
  record(reference, first_, second_, "block");
  expect_error(ErrorCode::invalid_argument, {"two layers", "op 0 matmul (layer.0)", "(block.0)"},
               [&] { compare_numerics(actual.graph, reference.graph); });
}

TEST_P(Numerics, OfAVerificationAreRowsToo) {
  GraphExecutor executor(test_device(GetParam()), {.profile = folder_ / "v.db"});
  const Tensor cache = executor.device().zeros({4, 8}, DType::f32, "cache");
  const VerifyReport report = verify(executor, [&](GraphSession& s) {
    const Tensor x = s.input("x", {1, 8}, Values(8, 2));
    set_rows(s, cache, x, {.position = 1});
    s.output("y", add(s, x, x));
  });
  EXPECT_TRUE(report.equal()) << report.text();
  executor.shutdown();
  EXPECT_EQ(test::sql(folder_ / "v.db",
                      "SELECT p.name, t.name, reference, max_abs, rmse, pass, tolerance FROM "
                      "comparisons p LEFT JOIN tensors t ON t.graph_id=p.graph_id AND "
                      "t.idx=p.tensor_idx ORDER BY p.id"),
            "output 'y'|y|direct|0.0|0.0|1|0.0\ntensor 'cache'|NULL|direct|0.0|0.0|1|0.0");
}

}  // namespace
}  // namespace reprise::testing
