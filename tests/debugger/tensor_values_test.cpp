#include "debugger/model/tensor_values.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <random>

#include "debugger/model/heat_map.h"
#include "tests/testing.h"

namespace reprise::debugger {
namespace {

using reprise::testing::expect_error;
using ::testing::ElementsAre;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

TEST(TensorValues, AreThoseOfEveryType) {
  const std::uint64_t seed = reprise::testing::test_seed();
  SCOPED_TRACE(reprise::testing::seed_note(seed));
  std::mt19937_64 random(seed);
  constexpr std::int64_t kElements = 2048 + 256;  // more than is decoded at a time
  for (std::size_t t = 0; t < kDTypeCount; ++t) {
    const auto dtype = static_cast<DType>(t);
    if (dtype == DType::i32 || dtype == DType::i64) {
      continue;
    }
    SCOPED_TRACE(name_of(dtype));
    const std::vector<std::byte> bytes =
        reprise::testing::random_bytes(random, dtype, kElements, -4, 4);
    const TensorValues values = decode_values(std::string(name_of(dtype)), "[9,256]", bytes);
    EXPECT_EQ(values.values, reprise::testing::to_doubles(dtype, bytes));
    EXPECT_THAT(values.dims, ElementsAre(9U, 256U));
  }
}

TEST(TensorValues, OfIntegersAreExact) {
  const std::vector<std::int32_t> narrow{-2'147'483'648, 16'777'217, 0};
  EXPECT_THAT(decode_values("i32", "[3]", bytes_of(narrow)).values,
              ElementsAre(-2'147'483'648.0, 16'777'217.0, 0.0));
  const std::vector<std::int64_t> wide{std::int64_t{1} << 53, -1};
  EXPECT_THAT(decode_values("i64", "[1,2]", bytes_of(wide)).values, ElementsAre(0x1p53, -1.0));
}

TEST(TensorValues, TellWhatIsNoOrdinaryNumber) {
  const TensorValues f32 = decode_values(
      "f32", "[6]",
      bytes_of<float>({NAN, -INFINITY, 1e-40F, 0, std::numeric_limits<float>::min(), -3}));
  const std::vector<ValueKind> kinds{f32.kind(0), f32.kind(1), f32.kind(2),
                                     f32.kind(3), f32.kind(4), f32.kind(5)};
  EXPECT_THAT(kinds, ElementsAre(ValueKind::nan, ValueKind::infinite, ValueKind::denormal,
                                 ValueKind::number, ValueKind::number, ValueKind::number));
  // 0x0001 is the least half above zero, 0x0400 the least normal one.
  const TensorValues f16 = decode_values("f16", "[2]", bytes_of<std::uint16_t>({0x0001, 0x0400}));
  EXPECT_EQ(f16.kind(0), ValueKind::denormal);
  EXPECT_EQ(f16.kind(1), ValueKind::number);
}

TEST(TensorValues, OfAFileThatContradictsItselfAreRefused) {
  const std::vector<std::byte> bytes(16);
  const auto refused = [&](const std::string& dtype, const std::string& shape,
                           const std::vector<std::string>& parts) {
    SCOPED_TRACE(dtype + " " + shape);
    expect_error(ErrorCode::invalid_argument, parts, [&] { decode_values(dtype, shape, bytes); });
  };
  refused("f33", "[4]", {"type (f33)", "none that this program knows"});
  refused("", "[4]", {"type ()"});
  refused("f32", "[5]", {"(20) bytes", "(16) are there"});
  refused("f16", "[4]", {"(8) bytes"});
  for (const char* const shape : {"", "4", "[]", "[-4]", "[4.0]", "[\"4\"]", "[[4]]", "{\"a\":4}",
                                  "[1,1,1,1,1,1,1,1,4]", "[99999999999]", "[", "null"}) {
    refused("f32", shape, {"shape (", "list of 1 to 8 sizes"});
  }
  refused("f32", "[" + std::string(100'000, '['), {"shape ("});
  refused("f32", "[16777216,16777216,16777216,16777216]", {"more than 16,777,216 elements"});
}

TEST(TensorValues, WithoutElementsHaveAnEmptyMatrix) {
  const TensorValues values = decode_values("f32", "[3,0]", {});
  const ValueMatrix matrix = matrix_of(values.dims, {});
  EXPECT_EQ(matrix.count, 0U);
  EXPECT_EQ(matrix.lines(), 0U);
}

TEST(TensorValues, NameTheirFirstElementThatIsNotFinite) {
  TensorValues values{DType::f32, {2, 3, 4}, std::vector<double>(24)};
  EXPECT_EQ(first_not_finite(values), std::nullopt);
  values.values[18] = -INFINITY;
  values.values[19] = NAN;
  EXPECT_EQ(first_not_finite(values), 18U);
  EXPECT_EQ(element_text(values.dims, 18), "[1, 1, 2]");
}

TEST(ValueMatrix, IsTheLastTwoDimensionsAtAnIndexOfTheOthers) {
  const std::vector<std::size_t> dims{2, 3, 4, 5};
  EXPECT_EQ(matrix_of(dims, std::vector<std::size_t>{1, 2}), (ValueMatrix{100, 20, 5}));
  EXPECT_EQ(matrix_of(dims, std::vector<std::size_t>{9, 9}), (ValueMatrix{100, 20, 5}));
  EXPECT_EQ(matrix_of(dims, {}), (ValueMatrix{0, 20, 5}));
  EXPECT_EQ(matrix_text(dims, std::vector<std::size_t>{1, 2}), "[1, 2, :, :]");
}

TEST(ValueMatrix, OfALongRowHasLinesOfAPowerOfTwo) {
  const std::vector<std::size_t> dims{1, 288};
  const ValueMatrix matrix = matrix_of(dims, {});
  EXPECT_EQ(matrix, (ValueMatrix{0, 288, 32}));
  EXPECT_EQ(matrix.lines(), 9U);
  EXPECT_EQ(matrix_text(dims, {}), "[:, :] in lines of 32");
  EXPECT_EQ(matrix_of(std::vector<std::size_t>{64}, {}).columns, 64U);
}

TEST(HeatMap, ShowsWhatIsFurthestFromZeroInEveryCell) {
  TensorValues values{DType::f32, {300, 130}, std::vector<double>(300 * 130, 0.25)};
  values.values[130 * 299 + 129] = -8;  // the last cell
  values.values[1] = 2;
  const HeatMap map = make_heat_map(values, matrix_of(values.dims, {}));
  EXPECT_EQ(map.lines_each, 3U);
  EXPECT_EQ(map.columns_each, 2U);
  ASSERT_EQ(map.lines, 100U);
  ASSERT_EQ(map.columns, 65U);
  EXPECT_EQ(map.cells.back().value, -8);
  EXPECT_EQ(map.cells.front().value, 2);
  EXPECT_EQ(map.cells[1].value, 0.25);
  EXPECT_EQ(map.furthest, 8);
  EXPECT_EQ(heat_of(map, -8), -1);
  EXPECT_EQ(heat_of(map, 2), 0.25);
}

TEST(HeatMap, HidesNoNanBehindAnInfinityNorThatBehindANumber) {
  TensorValues values{DType::f32, {1, 512}, std::vector<double>(512, 1e30)};
  const ValueMatrix matrix{0, 512, 512};  // four elements in each cell
  values.values[0] = NAN;
  values.values[1] = INFINITY;
  values.values[5] = -INFINITY;
  const HeatMap map = make_heat_map(values, matrix);
  EXPECT_EQ(map.cells[0].kind, ValueKind::nan);
  EXPECT_EQ(map.cells[1].kind, ValueKind::infinite);
  EXPECT_EQ(map.cells[2].kind, ValueKind::number);
  EXPECT_EQ(map.furthest, 1e30);
}

}  // namespace
}  // namespace reprise::debugger
