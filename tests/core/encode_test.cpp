// Encoding of blocks against the description of the formats: the scale, and integers as near as
// they can be.
#include "reprise/core/encode.h"

#include <cmath>

#include "framework/core/float16.h"
#include "reprise/backend/decode.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Numbers = std::array<float, 32>;

template <class Block>
Block encoded(DType type, const Numbers& values) {
  Block block;
  encoder_of(type)(values.data(), values.size(), reinterpret_cast<std::byte*>(&block));
  return block;
}

Numbers decoded(DType type, const Numbers& values) {
  std::vector<std::byte> block(info_of(type).block_bytes);
  encoder_of(type)(values.data(), values.size(), block.data());
  Numbers back{};
  decoder_of(type)(block.data(), back.size(), back.data());
  return back;
}

class Encode : public ::testing::TestWithParam<DType> {
 protected:
  Numbers random(float reach) {
    std::uniform_real_distribution<float> uniform(-reach, reach);
    Numbers values{};
    std::ranges::generate(values, [&] { return uniform(rng_); });
    return values;
  }
  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
};
INSTANTIATE_TEST_SUITE_P(Of, Encode, ::testing::Values(DType::q8_0, DType::q4_0),
                         [](const auto& p) { return std::string(name_of(p.param)); });

TEST_P(Encode, ScalesTheLargestValueToTheEndOfTheRange) {
  const bool bytes = GetParam() == DType::q8_0;
  for (float reach = 1e-5F; reach < 1e6F; reach *= 3) {
    const Numbers values = random(reach);
    const float max = *std::ranges::max_element(
        values, [](float a, float b) { return std::abs(a) < std::abs(b); });
    const float unit = bytes ? std::abs(max) / 127 : max / -8;
    const std::uint16_t scale = bytes ? encoded<BlockQ8>(GetParam(), values).scale
                                      : encoded<BlockQ4>(GetParam(), values).scale;
    ASSERT_EQ(scale, f32_to_f16(unit)) << "values up to " << reach;
  }
}

TEST_P(Encode, TakesTheNearestInteger) {
  const bool bytes = GetParam() == DType::q8_0;
  for (float reach = 1e-5F; reach < 1e6F; reach *= 3) {
    const Numbers values = random(reach);
    const float max = *std::ranges::max_element(
        values, [](float a, float b) { return std::abs(a) < std::abs(b); });
    const double unit = static_cast<double>(bytes ? std::abs(max) / 127 : max / -8);
    const auto block8 = encoded<BlockQ8>(DType::q8_0, values);
    const auto block4 = encoded<BlockQ4>(DType::q4_0, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int nibble = block4.nibbles[i % 16] >> (i < 16 ? 0 : 4) & 15;
      const double integer = bytes ? block8.values[i] : nibble - 8;
      const double exact = static_cast<double>(values[i]) / unit;
      // The other end of the range of nibbles is 7: what is above goes there.
      const double error = !bytes && nibble == 15 && exact > 7 ? 0 : std::abs(integer - exact);
      ASSERT_LE(error, 0.5 + 1e-5) << "value " << values[i] << " in units of " << unit;
    }
  }
}

TEST_P(Encode, GivesNothingButNanForABlockWithoutNumbers) {
  for (const float odd : {kInfinity, -kInfinity, kNan, -kNan}) {
    for (const std::size_t at : {0U, 13U, 31U}) {
      Numbers values = random(1);
      values[at] = odd;
      const Numbers back = decoded(GetParam(), values);
      EXPECT_TRUE(std::ranges::all_of(back, [](float v) { return std::isnan(v); })) << odd;
    }
  }
}

TEST_P(Encode, GivesZerosForZerosAndForLessThanAScaleCanSay) {
  for (const float reach : {0.0F, 1e-8F, 1e-38F, 1e-44F}) {
    const Numbers back = decoded(GetParam(), reach == 0 ? Numbers{} : random(reach));
    EXPECT_TRUE(std::ranges::all_of(back, [](float v) { return v == 0; })) << reach;
  }
}

TEST(EncodePlain, RoundsBfloatsToTheNearestAndTiesToEven) {
  const auto rounded = [](std::uint32_t bits) {
    const auto value = std::bit_cast<float>(bits);
    std::uint16_t half;
    encoder_of(DType::bf16)(&value, 1, reinterpret_cast<std::byte*>(&half));
    return half;
  };
  for (const std::uint32_t upper :
       {0x0000U, 0x0001U, 0x3F80U, 0x3F81U, 0x7F7EU, 0x8000U, 0xBF81U}) {
    const std::uint32_t even = upper + upper % 2;
    EXPECT_EQ(rounded(upper << 16U), upper);
    EXPECT_EQ(rounded(upper << 16U | 0x7FFFU), upper);
    EXPECT_EQ(rounded(upper << 16U | 0x8000U), even);
    EXPECT_EQ(rounded(upper << 16U | 0x8001U), upper + 1);
  }
  EXPECT_EQ(rounded(0x7F7FFFFFU), 0x7F80U);
  EXPECT_EQ(rounded(0x7F800000U), 0x7F80U);
  for (const std::uint32_t nan : {0x7F800001U, 0x7FFFFFFFU, 0xFF800001U, 0xFFC00000U}) {
    EXPECT_TRUE(std::isnan(bf16_to_f32(rounded(nan)))) << nan;
    EXPECT_EQ(rounded(nan) >> 15U, nan >> 31U);
  }
}

TEST(EncodePlain, GivesBackWhatWasDecoded) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    const auto bytes = random_bytes(rng, type, 301, -2, 2);
    std::vector<float> values(301);
    decoder_of(type)(bytes.data(), values.size(), values.data());
    std::vector<std::byte> back(bytes.size());
    encoder_of(type)(values.data(), values.size(), back.data());
    EXPECT_EQ(back, bytes) << name_of(type);
  }
}

TEST(EncodePlain, OfOtherTypesDoesNotExist) {
  for (const DType type : {DType::i32, DType::i64, DType::q4_1, DType::q4_k, DType::iq4_nl}) {
    EXPECT_EQ(encoder_of(type), nullptr) << name_of(type);
  }
}

}  // namespace
}  // namespace reprise::testing
