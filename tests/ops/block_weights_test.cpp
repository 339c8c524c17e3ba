// Weights in blocks on a Vulkan device against their decoded values: rows have the same bits,
// products are sums in another order.
#include "reprise/core/decode.h"
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
  Tensor decoded(const Shape& shape, const std::vector<std::byte>& bytes) const {
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    decoder_of(GetParam())(bytes.data(), values.size(), values.data());
    return device_.from_host(shape, values);
  }
  static std::vector<double> doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
  }

  static constexpr double kSumsLimit = 1e-10;  // nmse of f32 sums that may partly cancel

  const std::uint64_t seed_ = fresh_seed();
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
    const Tensor x =
        session.input("x", {n, k}, DType::f32, random_bytes(rng_, DType::f32, n * k, -1, 1));
    const Tensor w = device_.from_host(shape, GetParam(), bytes);
    session.output("y", matmul(session, x, w));
    session.output("expected", matmul(session, x, decoded(shape, bytes)));
    const auto result = session.finish();
    EXPECT_LE(nmse(doubles(result.read("expected")), doubles(result.read("y"))), kSumsLimit);
  }
}

TEST_P(BlockWeights, GiveTheRowsOfTheirDecodedValues) {
  const Shape shape{11, columns(3)};
  const auto bytes = blocks(static_cast<std::size_t>(shape.elements()));
  auto session = executor_.begin();
  const Tensor ids = session.input("ids", {5}, std::vector<std::int32_t>{10, 0, 3, 3, 7});
  session.output("rows", get_rows(session, device_.from_host(shape, GetParam(), bytes), ids));
  session.output("expected", get_rows(session, decoded(shape, bytes), ids));
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
    const Tensor x = session.input("x", {k}, DType::f32, random_bytes(rng_, DType::f32, k, -1, 1));
    const Tensor plain = decoded({3, k}, bytes);
    session.output("row", get_rows(session, w, 2));
    session.output("expected row", get_rows(session, plain, 2));
    session.output("y", matmul(session, x, w));
    session.output("expected y", matmul(session, x, plain));
    const auto result = session.finish();
    EXPECT_EQ(result.read("row"), result.read("expected row")) << "at byte " << offset;
    EXPECT_LE(nmse(doubles(result.read("expected y")), doubles(result.read("y"))), kSumsLimit)
        << "at byte " << offset;
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
