// Decoding of blocks against their definition, element by element in float64.
#include "reprise/core/decode.h"

#include <cmath>

#include "reprise/core/float16.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

double half(const std::byte* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return static_cast<double>(f16_to_f32(bits));
}

/// Element i of consecutive blocks, from the description of the format.
double q8_0_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 32 * 34;
  return half(block) * static_cast<double>(static_cast<std::int8_t>(block[2 + i % 32]));
}

double q4_0_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 32 * 18;
  const auto pair = static_cast<unsigned>(block[2 + i % 16]);
  return half(block) * (static_cast<double>(i % 32 < 16 ? pair & 15U : pair >> 4U) - 8);
}

struct Format {
  DType type;
  double (*element)(const std::byte* blocks, std::size_t i);
};
constexpr Format kFormats[] = {{DType::q8_0, q8_0_element}, {DType::q4_0, q4_0_element}};

TEST(Decode, GivesEveryValueUnderEveryScale) {
  for (const Format& format : kFormats) {
    const std::size_t block_bytes = info_of(format.type).block_bytes;
    constexpr std::size_t kBlocks = 65536;
    std::vector<std::byte> blocks(1 + kBlocks * block_bytes);
    std::byte* const first = blocks.data() + 1;  // needs no alignment
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const auto scale = static_cast<std::uint16_t>(b);
      std::memcpy(first + b * block_bytes, &scale, sizeof scale);
      for (std::size_t i = 2; i < block_bytes; ++i) {
        first[b * block_bytes + i] = static_cast<std::byte>(b * 31 + i * 7);
      }
    }
    std::vector<float> values(kBlocks * 32);
    decoder_of(format.type)(first, values.size(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = format.element(first, i);
      const double actual = static_cast<double>(values[i]);
      ASSERT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected)))
          << name_of(format.type) << ", element " << i << ": " << actual << ", not " << expected;
    }
  }
}

TEST(Decode, OfPlainTypesGivesTheirNumbers) {
  const std::uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    const std::vector<std::byte> bytes = random_bytes(rng, type, 301, -2, 2);
    std::vector<float> values(301);
    decoder_of(type)(bytes.data(), values.size(), values.data());
    EXPECT_EQ(std::vector<double>(values.begin(), values.end()), to_doubles(type, bytes))
        << name_of(type);
  }
}

TEST(Decode, OfOtherTypesDoesNotExist) {
  for (const DType type : {DType::i32, DType::i64, DType::q4_1, DType::q6_k}) {
    EXPECT_EQ(decoder_of(type), nullptr) << name_of(type);
  }
}

}  // namespace
}  // namespace reprise::testing
