#include "reprise/ops/set_rows.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "moves bits, or rounds in one defined way";

OpCase scatter(const std::string& name, std::int64_t capacity, std::int64_t cols, std::int64_t rows,
               DType dtype, DType id_dtype) {
  return {
      name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
        const Tensor table = c.persistent({capacity, cols}, dtype);
        set_rows(c.recorder(), table, c.input({rows, cols}), c.ids({rows}, id_dtype, 0, capacity));
        return {table};
      }};
}

// All ids around the table, inside and outside.
OpCase outside(DType dtype, DType id_dtype) {
  return {
      "outside_is_skipped_" + std::string(name_of(dtype)) + "_" + std::string(name_of(id_dtype)), 0,
      kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
        const Tensor table = c.persistent({7, 5}, dtype);
        set_rows(c.recorder(), table, c.input({17, 5}), c.ids({17}, id_dtype, -5, 12));
        return {table};
      }};
}

OpCase at_state(const std::string& name, DType dtype, std::int32_t window,
                const std::vector<std::int32_t>& positions) {
  return {name,
          0,
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor table = c.persistent({11, 2, 13}, dtype);
            set_rows(c.recorder(), table, c.input({3, 26}),
                     {.position = c.recorder().state("pos"), .window = window});
            return {table};
          },
          {{"pos", positions}}};
}

// Rows that meet in a small ring, among them: the last one stays.
OpCase window_in_state() {
  return {"window_from_state",
          0,
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor table = c.persistent({11, 13}, DType::f32);
            set_rows(c.recorder(), table, c.input({5, 13}),
                     {.position = 6, .window = c.recorder().state("window")});
            return {table};
          },
          {{"window", {0, 11, 5, 3, 1, -4, 64}}}};
}

OpCase integers(const std::string& name, std::int64_t cols) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor table = c.persistent({9, cols}, DType::i32);
            const Tensor values = c.input({4, cols}, DType::i32, -2147483648.0, 2147483647.0);
            set_rows(c.recorder(), table, values, c.ids({4}, DType::i32, 0, 9));
            return {table};
          }};
}

// Values as attention makes them: heads first, the last stride not 1; table and ids with offsets.
OpCase strided() {
  return {"strided_values", 0, "moves bits", [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor table = c.persistent({19, 2, 65}, DType::f32);
            const Tensor values = permute(c.recorder(), c.input({65, 2, 5}), {2, 1, 0});
            const Tensor ids = slice(c.recorder(), c.ids({6}, DType::i32, 0, 17), 0, 1, 5);
            set_rows(c.recorder(), slice(c.recorder(), table, 0, 1, 17), values, ids);
            return {table};
          }};
}

// Rows of several blocks; values heads first, as attention makes them.
OpCase heads_at_state(DType dtype, std::int32_t window, const std::vector<std::int32_t>& at) {
  return {"heads_" + std::string(name_of(dtype)),
          0,
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor table = c.persistent({11, 2, 64}, dtype);
            const Tensor values = permute(c.recorder(), c.input({2, 3, 64}), {1, 0, 2});
            set_rows(c.recorder(), table, values,
                     {.position = c.recorder().state("pos"), .window = window});
            return {table};
          },
          {{"pos", at}}};
}

OpCase constant_position() {
  return {
      "constant_position", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
        const Tensor table = c.persistent({5, 257}, DType::f16);
        set_rows(c.recorder(), table, c.input({2, 257}, DType::f32, -1e5, 1e5), {.position = 2});
        return {table};
      }};
}

}  // namespace

std::vector<OpCase> set_rows_cases() {
  return {scatter("1x1", 1, 1, 1, DType::f32, DType::i32),
          scatter("f32_i32", 67, 257, 13, DType::f32, DType::i32),
          scatter("f32_i64", 67, 65, 65, DType::f32, DType::i64),
          scatter("f16_i32", 32, 127, 5, DType::f16, DType::i32),
          scatter("f16_i64", 1031, 64, 257, DType::f16, DType::i64),
          outside(DType::f32, DType::i32),
          outside(DType::f16, DType::i64),
          at_state("state_position", DType::f16, 0, {0, 3, 8, 10, -2, 11}),
          at_state("state_window", DType::f32, 7, {0, 5, 6, 700, -1}),
          window_in_state(),
          integers("i32", 1),
          integers("i32_wide", 64),
          strided(),
          constant_position(),
          scatter("q8_0_i32", 67, 96, 13, DType::q8_0, DType::i32),
          scatter("q8_0_i64", 1031, 32, 257, DType::q8_0, DType::i64),
          scatter("q4_0_i64", 67, 96, 13, DType::q4_0, DType::i64),
          scatter("q4_0_1x32", 1, 32, 1, DType::q4_0, DType::i32),
          heads_at_state(DType::q8_0, 0, {0, 3, 8, 10, -2, 11}),
          heads_at_state(DType::q4_0, 7, {0, 5, 6, 700, -1})};
}

}  // namespace reprise::testing
