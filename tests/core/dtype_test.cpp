// Element types and half precision, against their definitions.
#include "reprise/core/dtype.h"

#include <cmath>
#include <limits>

#include "framework/core/float16.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

struct Row {
  DType type;
  std::string_view name;
  std::uint32_t block_elements, block_bytes;
};

/// From the block structs of GGUF.
constexpr Row kRows[] = {
    {DType::f32, "f32", 1, 4},
    {DType::f16, "f16", 1, 2},
    {DType::bf16, "bf16", 1, 2},
    {DType::i32, "i32", 1, 4},
    {DType::i64, "i64", 1, 8},
    {DType::q8_0, "q8_0", 32, 2 + 32},
    {DType::q4_0, "q4_0", 32, 2 + 16},
    {DType::q4_1, "q4_1", 32, 2 + 2 + 16},
    {DType::q5_0, "q5_0", 32, 2 + 4 + 16},
    {DType::q5_1, "q5_1", 32, 2 + 2 + 4 + 16},
    {DType::q4_k, "q4_K", 256, 2 + 2 + 12 + 128},
    {DType::q5_k, "q5_K", 256, 2 + 2 + 12 + 32 + 128},
    {DType::q6_k, "q6_K", 256, 128 + 64 + 16 + 2},
    {DType::q2_k, "q2_K", 256, 16 + 64 + 2 + 2},
    {DType::q3_k, "q3_K", 256, 32 + 64 + 12 + 2},
    {DType::iq4_nl, "iq4_nl", 32, 2 + 16},
    {DType::iq4_xs, "iq4_xs", 256, 2 + 2 + 4 + 128},
};

TEST(DType, TableMatchesTheBlocksOfGguf) {
  ASSERT_EQ(std::size(kRows), kDTypeCount);
  for (const Row& row : kRows) {
    EXPECT_EQ(info_of(row.type).name, row.name);
    EXPECT_EQ(info_of(row.type).block_elements, row.block_elements) << row.name;
    EXPECT_EQ(info_of(row.type).block_bytes, row.block_bytes) << row.name;
  }
}

TEST(DType, NamesGoBothWays) {
  for (const Row& row : kRows) {
    EXPECT_EQ(name_of(row.type), row.name);
    EXPECT_EQ(dtype_named(row.name), row.type);
  }
}

TEST(DType, UnknownNamesAreNotFound) {
  for (const std::string_view name : {"", "F32", "f64", "q4_k", "f32 "}) {
    EXPECT_EQ(dtype_named(name), std::nullopt) << name;
  }
}

TEST(DType, AStartedBlockCountsWhole) {
  for (const Row& row : kRows) {
    for (std::uint64_t elements = 0; elements <= 3 * std::uint64_t{row.block_elements};
         ++elements) {
      std::uint64_t blocks = 0;
      while (blocks * row.block_elements < elements) {
        ++blocks;
      }
      ASSERT_EQ(bytes_of(row.type, elements), blocks * row.block_bytes)
          << row.name << " " << elements;
    }
  }
}

TEST(Float16, EveryHalfComesBackUnchanged) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const std::uint16_t back = f32_to_f16(f16_to_f32(half));
    if (std::isnan(f16_to_f32(half))) {
      ASSERT_TRUE(std::isnan(f16_to_f32(back))) << bits;
      ASSERT_EQ(back & 0x8000U, half & 0x8000U) << bits;
    } else {
      ASSERT_EQ(back, half);
    }
  }
}

TEST(Float16, EveryHalfHasTheValueOfItsFields) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const int exponent = static_cast<int>(bits >> 10U & 31U);
    const double fraction = static_cast<double>(bits & 1023U);
    const double sign = bits >= 32768 ? -1 : 1;
    const float value = f16_to_f32(static_cast<std::uint16_t>(bits));
    if (exponent == 31) {
      ASSERT_EQ(std::isnan(value), fraction != 0) << bits;
      ASSERT_EQ(std::isinf(value), fraction == 0) << bits;
    } else {
      const double magnitude =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      ASSERT_EQ(static_cast<double>(value), sign * magnitude) << bits;
    }
    ASSERT_EQ(std::signbit(value), sign < 0) << bits;
  }
}

/// The value of a finite half, or of the one after the largest: there infinity begins.
float half_value(std::uint32_t bits) {
  return bits == 0x7C00 ? 65536.0F : f16_to_f32(static_cast<std::uint16_t>(bits));
}

TEST(Float16, TiesGoToTheEvenNeighbour) {
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float middle = (half_value(bits) + half_value(bits + 1)) / 2;  // exact
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(f32_to_f16(middle), even) << middle;
    ASSERT_EQ(f32_to_f16(-middle), even | 0x8000U) << middle;
  }
}

TEST(Float16, OtherValuesGoToTheNearestNeighbour) {
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float middle = (half_value(bits) + half_value(bits + 1)) / 2;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 0.0F)), bits) << middle;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, kInfinity)), bits + 1) << middle;
  }
}

TEST(Float16, LargeValuesBecomeInfinity) {
  EXPECT_EQ(f32_to_f16(65519.996F), 0x7BFFU);
  for (const float large : {65520.0F, 65536.0F, 1e30F, std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(f32_to_f16(large), 0x7C00U) << large;
    EXPECT_EQ(f32_to_f16(-large), 0xFC00U) << large;
  }
}

TEST(Float16, EveryNanStaysNan) {
  for (std::uint32_t payload = 1; payload < (1U << 23U); payload += 97) {
    ASSERT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::bit_cast<float>(0x7F800000U | payload)))));
  }
}

TEST(Float16, BfloatsAreTheUpperHalfOfAFloat) {
  EXPECT_EQ(bf16_to_f32(0x3F80), 1.0F);
  EXPECT_EQ(bf16_to_f32(0xC040), -3.0F);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(bf16_to_f32(static_cast<std::uint16_t>(bits))),
              bits << 16U);
  }
}

}  // namespace
}  // namespace reprise::testing
