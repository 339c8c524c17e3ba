#include "reprise/ops/rope_set_rows.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-7;
constexpr const char* kWhy = "rotated values may round to the f16 beside";

double limit_of(DType table) { return table == DType::f16 ? kLimit : 1e-12; }

OpCase at(const std::string& label, const Shape& x, DType table, RopeAttributes rotation,
          SetRowsAttributes rows) {
  return {label, limit_of(table), kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor cache = c.persistent({17, x.dim(1), x.dim(2)}, table);
            rope_set_rows(c.recorder(), cache, c.input(x), {}, rotation, rows);
            return {cache};
          }};
}

// All ids around the table, inside and outside; positions, factors and ids with offsets.
OpCase given(DType table, DType id_dtype, RopePairing pairing) {
  const std::string label = "given_" + std::string(name_of(table)) + "_" +
                            std::string(name_of(id_dtype)) +
                            (pairing == RopePairing::half_split ? "_half_split" : "");
  return {
      label, limit_of(table), kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
        Recorder& r = c.recorder();
        const Tensor whole = c.persistent({8, 3 * 48}, table);
        const Tensor cache = slice(r, whole, 0, 1, 7);
        const Tensor x = permute(r, c.input({3, 5, 48}), {1, 0, 2});
        const Tensor positions = slice(r, c.integers({6}, {9, 0, 4096, -3, 131071, 7}), 0, 1, 5);
        const Tensor factors = slice(r, c.input({21}, DType::f32, 0.25, 32), 0, 1, 20);
        const Tensor ids = slice(r, c.ids({6}, id_dtype, -2, 9), 0, 1, 5);
        rope_set_rows(r, cache, x, ids,
                      {.base = 500000,
                       .dims = 40,
                       .pairing = pairing,
                       .positions = positions,
                       .frequency_factors = factors});
        return {whole};
      }};
}

// Around both ends of the table, and in a ring of 7 rows of it.
OpCase at_state(DType table, std::int32_t window) {
  return {"position_from_state_" + std::string(name_of(table)) + (window > 0 ? "_in_a_ring" : ""),
          limit_of(table),
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor cache = c.persistent({11, 2, 16}, table);
            rope_set_rows(r, cache, c.input({3, 2, 16}), {}, {.position = r.state("pos")},
                          {.position = r.state("pos"), .window = window});
            return {cache};
          },
          {{"pos", {0, 3, 8, 10, -2, 11, 700}}}};
}

// Rows that meet in a small ring, among them: the last one stays.
OpCase window_in_state() {
  return {"window_from_state",
          limit_of(DType::f32),
          kWhy,
          [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor cache = c.persistent({11, 2, 16}, DType::f32);
            rope_set_rows(r, cache, c.input({5, 2, 16}), {}, {.position = 3},
                          {.position = 6, .window = r.state("window")});
            return {cache};
          },
          {{"window", {0, 11, 5, 3, 1, -4, 64}}}};
}

}  // namespace

std::vector<OpCase> rope_set_rows_cases() {
  return {
      at("1x1x2", {1, 1, 2}, DType::f32, {.position = 1}, {.position = 4}),
      at("9x3x64_f16", {9, 3, 64}, DType::f16, {.position = 4032}, {.position = 8}),
      at("5x9x80_partial", {5, 9, 80}, DType::f32, {.position = 100, .scale = 9, .dims = 32}, {}),
      at("7x3x81_partial_half_split", {7, 3, 81}, DType::f16,
         {.position = -5, .dims = 20, .pairing = RopePairing::half_split},
         {.position = 15, .window = 16}),
      given(DType::f32, DType::i32, RopePairing::interleaved),
      given(DType::f16, DType::i64, RopePairing::half_split),
      given(DType::f16, DType::i32, RopePairing::interleaved),
      given(DType::f32, DType::i64, RopePairing::half_split),
      at_state(DType::f16, 0),
      at_state(DType::f32, 7),
      window_in_state()};
}

}  // namespace reprise::testing
