// Decoding of blocks against their definition, element by element in float64.
#include "reprise/backend/decode.h"

#include <cmath>

#include "framework/core/float16.h"
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

unsigned byte_at(const std::byte* block, std::size_t i) { return static_cast<unsigned>(block[i]); }

/// Bits [first, first + count) of a block, counted from the lowest bit of its first byte.
unsigned bits_at(const std::byte* block, std::size_t first, std::size_t count) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bits |= (byte_at(block, (first + i) / 8) >> (first + i) % 8 & 1U) << i;
  }
  return bits;
}

/// Integer of 4 bits of a block of 32 whose nibbles begin at a byte.
unsigned nibble_of_32(const std::byte* block, std::size_t at, std::size_t i) {
  return bits_at(block, (at + i % 16) * 8 + (i < 16 ? 0 : 4), 4);
}

double q4_1_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 32 * 20;
  return half(block) * nibble_of_32(block, 4, i % 32) + half(block + 2);
}

double q5_0_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 32 * 22;
  const unsigned q = nibble_of_32(block, 6, i % 32) | bits_at(block, 16 + i % 32, 1) << 4U;
  return half(block) * (static_cast<double>(q) - 16);
}

double q5_1_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 32 * 24;
  const unsigned q = nibble_of_32(block, 8, i % 32) | bits_at(block, 32 + i % 32, 1) << 4U;
  return half(block) * q + half(block + 2);
}

constexpr double kLevels[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                              1,    13,   25,  38,  53,  69,  89,  113};

double iq4_nl_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 32 * 18;
  return half(block) * kLevels[nibble_of_32(block, 2, i % 32)];
}

/// Integer i of 256: 32 neighbours in 32 bytes, one above the other, `count` bits each.
unsigned stacked(const std::byte* block, std::size_t at, std::size_t i, std::size_t count) {
  const std::size_t layers = 8 / count;
  const std::size_t byte = at + i / (32 * layers) * 32 + i % 32;
  return bits_at(block, byte * 8 + i / 32 % layers * count, count);
}

double q2_k_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 256 * 84;
  const unsigned scales = byte_at(block, i % 256 / 16);
  return half(block + 80) * (scales % 16) * stacked(block, 16, i % 256, 2) -
         half(block + 82) * (scales / 16);
}

double q3_k_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 256 * 110;
  const std::size_t j = i % 256 / 16;
  const unsigned scale = bits_at(block, (96 + j % 8) * 8 + j / 8 * 4, 4) |
                         bits_at(block, (104 + j % 4) * 8 + j / 4 * 2, 2) << 4U;
  const unsigned q = stacked(block, 32, i % 256, 2) | stacked(block, 0, i % 256, 1) << 2U;
  return half(block + 108) * (static_cast<double>(scale) - 32) * (static_cast<double>(q) - 4);
}

/// Scale and minimum j of q4_K and q5_K: 6 bits, from part 4 on the upper two beside those of
/// parts 0 to 3.
std::pair<unsigned, unsigned> parts_of_k(const std::byte* block, std::size_t j) {
  const std::byte* scales = block + 4;
  if (j < 4) {
    return {byte_at(scales, j) & 63U, byte_at(scales, j + 4) & 63U};
  }
  return {bits_at(scales, (j + 4) * 8, 4) | bits_at(scales, (j - 4) * 8 + 6, 2) << 4U,
          bits_at(scales, (j + 4) * 8 + 4, 4) | bits_at(scales, j * 8 + 6, 2) << 4U};
}

double q4_k_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 256 * 144;
  const auto [scale, minimum] = parts_of_k(block, i % 256 / 32);
  return half(block) * scale * stacked(block, 16, i % 256, 4) - half(block + 2) * minimum;
}

double q5_k_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 256 * 176;
  const auto [scale, minimum] = parts_of_k(block, i % 256 / 32);
  const unsigned q = stacked(block, 48, i % 256, 4) | stacked(block, 16, i % 256, 1) << 4U;
  return half(block) * scale * q - half(block + 2) * minimum;
}

double q6_k_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 256 * 210;
  const std::size_t byte = i % 256 / 128 * 64 + i % 64;
  const unsigned q =
      bits_at(block, byte * 8 + i % 128 / 64 * 4, 4) | stacked(block, 128, i % 256, 2) << 4U;
  const auto scale = static_cast<std::int8_t>(block[192 + i % 256 / 16]);
  return half(block + 208) * static_cast<double>(scale) * (static_cast<double>(q) - 32);
}

double iq4_xs_element(const std::byte* blocks, std::size_t i) {
  const std::byte* block = blocks + i / 256 * 136;
  const std::size_t j = i % 256 / 32;
  const unsigned scale = bits_at(block, 32 + j * 4, 4) | bits_at(block, 16 + j * 2, 2) << 4U;
  return half(block) * (static_cast<double>(scale) - 32) *
         kLevels[nibble_of_32(block, 8 + j * 16, i % 32)];
}

struct Format {
  DType type;
  double (*element)(const std::byte* blocks, std::size_t i);
};

class Blocks : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(
    Decode, Blocks,
    ::testing::Values(Format{DType::q8_0, q8_0_element}, Format{DType::q4_0, q4_0_element},
                      Format{DType::q4_1, q4_1_element}, Format{DType::q5_0, q5_0_element},
                      Format{DType::q5_1, q5_1_element}, Format{DType::iq4_nl, iq4_nl_element},
                      Format{DType::q2_k, q2_k_element}, Format{DType::q3_k, q3_k_element},
                      Format{DType::q4_k, q4_k_element}, Format{DType::q5_k, q5_k_element},
                      Format{DType::q6_k, q6_k_element}, Format{DType::iq4_xs, iq4_xs_element}),
    [](const auto& f) { return std::string(name_of(f.param.type)); });

TEST_P(Blocks, GiveEveryValueUnderEveryScale) {
  const Format& format = GetParam();
  const DTypeInfo& info = info_of(format.type);
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  std::vector<std::byte> block(1 + info.block_bytes);
  std::byte* const first = block.data() + 1;  // needs no alignment
  std::vector<float> values(info.block_elements);
  for (std::uint32_t bits = 0; bits < 65536; bits += info.block_elements == 32 ? 1 : 7) {
    std::ranges::generate(block, [&] { return static_cast<std::byte>(rng()); });
    const auto scale = static_cast<std::uint16_t>(bits);
    std::memcpy(first + scales_in_block(format.type).front(), &scale, sizeof scale);
    decoder_of(format.type)(first, values.size(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      // In float64 the sum is exact but for its last rounding.
      const auto expected = static_cast<double>(static_cast<float>(format.element(first, i)));
      const double actual = static_cast<double>(values[i]);
      ASSERT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected)))
          << "scale " << bits << ", element " << i << ": " << actual << ", not " << expected;
    }
  }
}

TEST_P(Blocks, AreDecodedOneAfterAnother) {
  const DTypeInfo& info = info_of(GetParam().type);
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  constexpr std::size_t kBlocks = 3;
  const auto bytes =
      random_bytes(rng, GetParam().type, std::int64_t{kBlocks} * info.block_elements, -1, 1);
  std::vector<float> values(kBlocks * info.block_elements);
  decoder_of(GetParam().type)(bytes.data(), values.size(), values.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], static_cast<float>(GetParam().element(bytes.data(), i))) << i;
    ASSERT_LE(std::abs(values[i]), 1.01F) << i;
  }
}

TEST(Decode, OfPlainTypesGivesTheirNumbers) {
  const std::uint64_t seed = test_seed();
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
  for (const DType type : {DType::i32, DType::i64}) {
    EXPECT_EQ(decoder_of(type), nullptr) << name_of(type);
  }
}

}  // namespace
}  // namespace reprise::testing
