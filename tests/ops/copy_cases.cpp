#include <algorithm>
#include <cmath>
#include <iterator>

#include "reprise/ops/copy.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "moves bits, or rounds in one defined way";

OpCase plain(const Shape& shape, DType dtype) {
  return {std::string(name_of(dtype)) + "_" + std::to_string(shape.elements()), 0, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {copy(c.recorder(), c.input(shape, dtype))};
          }};
}

OpCase integers() {
  return {"i32", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.integers({2, 3}, {-2147483647 - 1, -1, 0, 1, 2147483647, 7});
            return {copy(c.recorder(), permute(c.recorder(), x, {1, 0}))};
          }};
}

// The last stride is not 1, and an offset that no binding can have.
OpCase permuted(DType from, DType to) {
  return {"permuted_" + std::string(name_of(from)) + "_" + std::string(name_of(to)), 0, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = slice(c.recorder(), c.input({3, 5, 7, 65}, from), 2, 1, 5);
            return {cast(c.recorder(), permute(c.recorder(), x, {3, 0, 2, 1}), to)};
          }};
}

/// A copy of x permuted, large enough to be shared among threads.
OpCase large(const std::string& name, const Shape& x, const std::vector<std::size_t>& order,
             DType from = DType::f32, DType to = DType::f32) {
  return {"large_" + name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {cast(c.recorder(), permute(c.recorder(), c.input(x, from), order), to)};
          }};
}

// Squares of 2, 4 and 8 units, runs below and above a tile.
std::vector<OpCase> large_cases() {
  return {large("runs_of_5", {40, 301, 5}, {1, 0, 2}),
          large("runs_of_67", {31, 40, 67}, {1, 0, 2}),
          large("runs_of_4099", {3, 7, 4099}, {1, 0, 2}),
          large("one_run", {97, 1031}, {0, 1}),
          large("transposed", {197, 133}, {1, 0}),
          large("transposed_batches", {5, 70, 131}, {0, 2, 1}),
          large("transposed_f16", {197, 133}, {1, 0}, DType::f16, DType::f16),
          large("transposed_around", {3, 66, 5, 71}, {3, 0, 2, 1}),
          large("strided", {60, 3, 2, 70}, {1, 2, 0, 3}),
          large("few_rows", {131, 90, 3}, {2, 1, 0}),
          large("f32_f16", {97, 1031}, {0, 1}, DType::f32, DType::f16),
          large("f16_f32", {97, 1031}, {0, 1}, DType::f16, DType::f32),
          large("bf16_f32", {3, 31, 1031}, {1, 0, 2}, DType::bf16, DType::f32),
          large("f32_bf16", {7, 30, 301}, {2, 1, 0}, DType::f32, DType::bf16),
          large("f32_q8_0", {31, 4128}, {0, 1}, DType::f32, DType::q8_0)};
}

// Every range of f16: subnormals, halves of the smallest, overflow.
OpCase rounded(const std::string& name, double range) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {cast(c.recorder(), c.input({257, 65}, DType::f32, -range, range), DType::f16)};
          }};
}

OpCase widened() {
  return {"subnormal_f16_f32", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.input({65, 7}, DType::f16, -1e-4, 1e-4);
            return {cast(c.recorder(), slice(c.recorder(), x, 1, 2, 3), DType::f32)};
          }};
}

std::string named(std::string_view what, DType dtype) {
  return std::string(what) + "_" + std::string(name_of(dtype));
}

// From subnormal scales to infinite ones.
OpCase into_blocks(DType to, double range) {
  return {named("range_" + std::to_string(static_cast<int>(std::log10(range))), to), 0, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor one = c.input({1, 32}, DType::f32, -range, range);
            const Tensor many = c.input({257, 96}, DType::f32, -range, range);
            return {cast(c.recorder(), one, to), cast(c.recorder(), many, to)};
          }};
}

OpCase into_blocks_permuted(DType to) {
  return {named("permuted_f32", to), 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = slice(c.recorder(), c.input({64, 5, 7, 3}), 2, 1, 5);
            return {cast(c.recorder(), permute(c.recorder(), x, {3, 1, 2, 0}), to)};
          }};
}

OpCase kept_in_blocks(DType dtype) {
  return {named("kept", dtype), 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {copy(c.recorder(), slice(c.recorder(), c.input({9, 96}, dtype), 0, 3, 5))};
          }};
}

OpCase out_of_blocks(DType from) {
  const std::int64_t block = info_of(from).block_elements;
  return {named("out_of", from), 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.input({9, 3 * block}, from);
            return {cast(c.recorder(), c.input({1, block}, from), DType::f32),
                    cast(c.recorder(), slice(c.recorder(), x, 0, 3, 5), DType::f32)};
          }};
}

// Blocks of 32 with one of them each, and one without.
OpCase not_numbers(DType to) {
  return {
      named("not_numbers", to), 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
        std::vector<std::int32_t> bits(std::size_t{6} * 32, 0x3F800000);
        const std::int32_t odd[] = {0x7F800000, -0x00800000, 0x7FC00001, -0x003FFFFF, 0x7F800001};
        for (std::size_t i = 0; i < std::size(odd); ++i) {
          bits[i * 32 + 7 * i] = odd[i];
        }
        return {cast(c.recorder(), c.floats({6, 32}, bits), to)};
      }};
}

// Blocks whose largest magnitude is there with both signs, or is zero.
OpCase equal_magnitudes(DType to) {
  return {named("equal_magnitudes", to), 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            constexpr std::int32_t kZero = 0, kSign = -0x7FFFFFFF - 1, kOne = 0x3F800000;
            constexpr std::int32_t kBlocks[][2] = {{kOne, kOne | kSign},  {kOne | kSign, kOne},
                                                   {kZero, kZero},        {kSign, kSign},
                                                   {kSign, kZero},        {kSign, kOne},
                                                   {kZero, kOne | kSign}, {kSign, kOne | kSign}};
            std::vector<std::int32_t> bits;
            for (const auto& [first, later] : kBlocks) {
              for (int i = 0; i < 32; ++i) {
                bits.push_back(i < 9 || i == 20 ? first : later);
              }
            }
            return {cast(c.recorder(), c.floats({8, 32}, bits), to)};
          }};
}

}  // namespace

std::vector<OpCase> copy_cases() {
  std::vector<OpCase> cases{plain({1}, DType::f32),
                            plain({3, 257}, DType::f32),
                            plain({65, 7}, DType::f16),
                            integers(),
                            permuted(DType::f32, DType::f32),
                            permuted(DType::f16, DType::f16),
                            permuted(DType::f32, DType::f16),
                            permuted(DType::f16, DType::f32),
                            rounded("f16_normal", 1),
                            rounded("f16_subnormal", 1e-4),
                            rounded("f16_smallest", 1e-7),
                            rounded("f16_overflow", 1e5),
                            widened()};
  cases.push_back(permuted(DType::bf16, DType::bf16));
  cases.push_back(permuted(DType::f32, DType::bf16));
  cases.push_back(permuted(DType::bf16, DType::f32));
  for (const DType blocks : {DType::q8_0, DType::q4_0}) {
    for (const double range : {1.0, 1e-6, 1e7}) {
      cases.push_back(into_blocks(blocks, range));
    }
    cases.push_back(into_blocks_permuted(blocks));
    cases.push_back(kept_in_blocks(blocks));
    cases.push_back(equal_magnitudes(blocks));
  }
  for (const DType from :
       {DType::q8_0, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q4_k, DType::q5_k,
        DType::q6_k, DType::q2_k, DType::q3_k, DType::iq4_nl, DType::iq4_xs}) {
    cases.push_back(out_of_blocks(from));
  }
  for (const DType to : {DType::f16, DType::bf16, DType::q8_0, DType::q4_0}) {
    cases.push_back(not_numbers(to));
  }
  std::ranges::move(large_cases(), std::back_inserter(cases));
  return cases;
}

}  // namespace reprise::testing
