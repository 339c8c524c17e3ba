// Weights in blocks on a Vulkan device against their decoded values: rows have the same bits,
// products are sums in another order.
#include "reprise/backend/backend.h"
#include "reprise/backend/decode.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class BlockWeights : public ::testing::TestWithParam<DType> {
 protected:
  /// Random blocks with scales of every exponent of a half, subnormal ones included.
  std::vector<std::byte> blocks(std::size_t elements) {
    std::vector<std::byte> bytes(bytes_of(GetParam(), elements));
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(rng_()); });
    const std::size_t block = info_of(GetParam()).block_bytes;
    for (const std::size_t scale : scales_in_block(GetParam())) {
      for (std::size_t at = scale; at < bytes.size(); at += block) {
        bytes[at + 1] &= std::byte{0xBB};  // neither infinite nor NaN
      }
    }
    return bytes;
  }
  /// The columns of so many blocks.
  static std::int64_t columns(std::int64_t blocks) {
    return blocks * info_of(GetParam()).block_elements;
  }
  static std::vector<float> decoded(const Shape& shape, const std::vector<std::byte>& bytes) {
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    decoder_of(GetParam())(bytes.data(), values.size(), values.data());
    return values;
  }
  std::vector<float> random_values(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::ranges::generate(values, [&] { return std::uniform_real_distribution(-1.F, 1.F)(rng_); });
    return values;
  }
  /// Rows of x times rows of w, both of k values. Sums may cancel: what rounding changes is a share
  /// of the sum of magnitudes, half an ulp for each addition that a product goes through: at most k
  /// in any order (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
  static void expect_products(const std::vector<float>& y, const std::vector<float>& x,
                              const std::vector<float>& w, std::size_t k) {
    const std::size_t columns = w.size() / k;
    ASSERT_EQ(y.size(), x.size() / k * columns);
    for (std::size_t i = 0; i < y.size(); ++i) {
      double sum = 0, magnitudes = 0;
      for (std::size_t j = 0; j < k; ++j) {
        const double product = static_cast<double>(x[i / columns * k + j]) *
                               static_cast<double>(w[i % columns * k + j]);
        sum += product;
        magnitudes += std::abs(product);
      }
      const double limit = static_cast<double>(k) * 0x1p-24 * magnitudes;
      ASSERT_NEAR(y[i], sum, limit) << "row " << i / columns << ", column " << i % columns;
    }
  }

  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  const ExpectNoValidationMessages quiet_;
  const Device device_ = test_device("vulkan");
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(In, BlockWeights,
                         ::testing::Values(DType::q8_0, DType::q4_0, DType::q4_1, DType::q5_0,
                                           DType::q5_1, DType::q4_k, DType::q5_k, DType::q6_k,
                                           DType::q2_k, DType::q3_k, DType::iq4_nl, DType::iq4_xs),
                         [](const auto& p) { return std::string(name_of(p.param)); });

TEST_P(BlockWeights, GiveTheProductsOfTheirDecodedValues) {
  for (const std::int64_t n : {1, 2, 3, 9}) {
    const std::int64_t k = columns(5);
    const Shape shape{37, k};
    const auto bytes = blocks(static_cast<std::size_t>(37 * k));
    auto session = executor_.begin();
    const std::vector<float> x = random_values(n * k);
    const Tensor w = device_.from_host(shape, GetParam(), bytes);
    session.output("y", matmul(session, session.input("x", {n, k}, x), w));
    SCOPED_TRACE(std::to_string(n) + " rows");
    expect_products(session.finish().read("y"), x, decoded(shape, bytes),
                    static_cast<std::size_t>(k));
  }
}

TEST_P(BlockWeights, GiveTheRowsOfTheirDecodedValues) {
  const Shape shape{11, columns(3)};
  const auto bytes = blocks(static_cast<std::size_t>(shape.elements()));
  auto session = executor_.begin();
  const Tensor ids = session.input("ids", {5}, std::vector<std::int32_t>{10, 0, 3, 3, 7});
  session.output("rows", get_rows(session, device_.from_host(shape, GetParam(), bytes), ids));
  session.output("expected",
                 get_rows(session, device_.from_host(shape, decoded(shape, bytes)), ids));
  const auto result = session.finish();
  EXPECT_EQ(result.read("rows"), result.read("expected"));
}

TEST_P(BlockWeights, AreReadWhereverTheyBeginInABuffer) {
  const std::int64_t k = columns(2);
  const std::uint64_t row = bytes_of(GetParam(), static_cast<std::uint64_t>(k));
  const auto bytes = blocks(static_cast<std::size_t>(3 * k));
  for (std::uint64_t offset = 0; offset < 40; offset += 2) {
    const auto buffer = device_.backend().allocate("w", offset + 3 * row, BufferKind::device);
    device_.write(buffer, offset, bytes);
    const Tensor w = Tensor::over(buffer, {{3, k}, GetParam()}, offset);
    auto session = executor_.begin();
    const std::vector<float> x = random_values(k);
    const std::vector<float> plain = decoded({3, k}, bytes);
    session.output("row", get_rows(session, w, 2));
    session.output("y", matmul(session, session.input("x", {k}, x), w));
    const auto result = session.finish();
    SCOPED_TRACE("at byte " + std::to_string(offset));
    EXPECT_EQ(result.read("row"), std::vector<float>(plain.end() - k, plain.end()));
    expect_products(result.read("y"), x, plain, static_cast<std::size_t>(k));
  }
}

TEST_P(BlockWeights, OfRowsThatSplitABlockAreAnError) {
  const std::int64_t block = columns(1);
  const std::int64_t split = block + block / 2;
  const Tensor w =
      device_.from_host({2, split}, GetParam(), blocks(static_cast<std::size_t>(2 * split)), "w");
  for (const bool product : {true, false}) {
    auto session = executor_.begin();
    const std::vector<float> ones(static_cast<std::size_t>(split), 1);
    const Tensor x = session.input("x", {split}, ones);
    expect_error(ErrorCode::invalid_argument,
                 {product ? "matmul" : "get_rows", "whole blocks of " + std::to_string(block),
                  "'w'", "rows of (" + std::to_string(split) + ")"},
                 [&] { (void)(product ? matmul(session, x, w) : get_rows(session, w, 1)); });
  }
}

TEST_P(BlockWeights, WithGapsBetweenTheirRowsAreAnError) {
  const std::int64_t block = columns(1);
  const auto buffer = device_.backend().allocate("w", 4096, BufferKind::device);
  const Tensor w = Tensor::over(buffer, {{2, block}, GetParam(), {2 * block, 1}}, 0, "w");
  auto session = executor_.begin();
  const std::vector<float> ones(static_cast<std::size_t>(block), 1);
  const Tensor x = session.input("x", {block}, ones);
  expect_error(ErrorCode::invalid_argument,
               {"matmul", "whole blocks of " + std::to_string(block), "'w'", "strided"},
               [&] { (void)matmul(session, x, w); });
}

}  // namespace
}  // namespace reprise::testing
