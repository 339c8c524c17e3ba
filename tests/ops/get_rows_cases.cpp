#include "reprise/ops/get_rows.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "moves bits, f16 and bf16 widen exactly, and blocks decode exactly";

OpCase gather(const std::string& name, const Shape& table, const Shape& ids, DType dtype,
              DType id_dtype) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const std::int64_t n = table.dim(table.rank() - 2);
            return {get_rows(c.recorder(), c.input(table, dtype), c.ids(ids, id_dtype, 0, n))};
          }};
}

// All ids around the table, inside and outside.
OpCase outside(DType id_dtype) {
  return {"outside_is_nan_" + std::string(name_of(id_dtype)), 0, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {get_rows(c.recorder(), c.input({5, 9}), c.ids({13}, id_dtype, -4, 9))};
          }};
}

OpCase with_offsets(DType dtype, std::int64_t cols) {
  return {"sliced_table_and_ids_" + std::string(name_of(dtype)), 0, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor table = slice(c.recorder(), c.input({11, cols}, dtype), 0, 3, 6);
            const Tensor ids = slice(c.recorder(), c.ids({6}, DType::i64, 0, 6), 0, 1, 4);
            return {get_rows(c.recorder(), table, ids)};
          }};
}

OpCase constant_id() {
  return {"constant_id", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            return {get_rows(c.recorder(), c.input({5, 257}), 3)};
          }};
}

OpCase state_id() {
  return {
      "state_id",
      0,
      kWhy,
      [](CaseContext& c) -> std::vector<Tensor> {
        return {get_rows(c.recorder(), c.input({17, 65}, DType::f16), c.recorder().state("token"))};
      },
      {{"token", {0, 16, 7, -1, 17}}}};
}

}  // namespace

std::vector<OpCase> get_rows_cases() {
  std::vector<OpCase> cases{
      gather("1x1", {1, 1}, {1}, DType::f32, DType::i32),
      gather("f32_i32", {67, 257}, {13}, DType::f32, DType::i32),
      gather("f32_i64", {67, 65}, {65}, DType::f32, DType::i64),
      gather("f16_i32", {40, 257}, {9}, DType::f16, DType::i32),
      gather("f16_i64", {1031, 64}, {257}, DType::f16, DType::i64),
      gather("bf16_i32", {40, 257}, {9}, DType::bf16, DType::i32),
      gather("batched", {4, 40, 33}, {4, 5}, DType::f32, DType::i32),
      gather("batched_twice", {2, 3, 31, 7}, {2, 3, 5}, DType::f16, DType::i64),
      gather("q8_0_i32", {40, 96}, {9}, DType::q8_0, DType::i32),
      gather("q8_0_batched", {3, 31, 32}, {3, 5}, DType::q8_0, DType::i64),
      gather("q4_0_i64", {40, 96}, {9}, DType::q4_0, DType::i64),
      gather("q4_0_batched", {2, 3, 31, 160}, {2, 3, 5}, DType::q4_0, DType::i32),
      with_offsets(DType::f16, 7),
      with_offsets(DType::q8_0, 96),
      with_offsets(DType::q4_0, 96),
      outside(DType::i32),
      outside(DType::i64),
      constant_id(),
      state_id()};
  for (const DType table : {DType::q4_1, DType::q5_0, DType::q5_1, DType::q4_k, DType::q5_k,
                            DType::q6_k, DType::q2_k, DType::q3_k, DType::iq4_nl, DType::iq4_xs}) {
    const std::int64_t block = info_of(table).block_elements;
    const std::string name(name_of(table));
    cases.push_back(gather(name + "_i32", {40, 3 * block}, {9}, table, DType::i32));
    cases.push_back(gather(name + "_batched", {3, 31, block}, {3, 5}, table, DType::i64));
    cases.push_back(with_offsets(table, 5 * block));
  }
  return cases;
}

}  // namespace reprise::testing
