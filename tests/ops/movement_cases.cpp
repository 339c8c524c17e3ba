#include "reprise/ops/movement.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "moves bits";

OpCase row(const std::string& name, std::function<Tensor(CaseContext&)> build) {
  return {name, 0, kWhy,
          [build = std::move(build)](CaseContext& c) -> std::vector<Tensor> { return {build(c)}; }};
}

Tensor of(CaseContext& c, const Shape& shape, DType dtype) {
  return dtype == DType::i64 ? c.ids(shape, dtype, -70000, 70000) : c.input(shape, dtype);
}

constexpr DType kPlain[] = {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64};
constexpr DType kBlocks[] = {DType::q8_0, DType::q4_0, DType::q5_1, DType::q4_k, DType::q6_k};

std::vector<OpCase> concat_cases() {
  std::vector<OpCase> cases{row("1_and_1", [](CaseContext& c) {
    return concat(c.recorder(), c.input({1}), c.input({1}), 0);
  })};
  for (std::size_t dim = 0; dim < 4; ++dim) {
    cases.push_back(row("dim_" + std::to_string(dim), [=](CaseContext& c) {
      std::array<std::int64_t, 4> a{2, 3, 5, 67};
      std::array<std::int64_t, 4> b = a;
      b[dim] = 11;
      return concat(c.recorder(), c.input(Shape(std::span<const std::int64_t>(a))),
                    c.input(Shape(std::span<const std::int64_t>(b))), dim);
    }));
  }
  for (const DType dtype : kPlain) {
    cases.push_back(row(std::string(name_of(dtype)), [=](CaseContext& c) {
      Recorder& r = c.recorder();
      return concat(r, of(c, {33, 7}, dtype), of(c, {33, 58}, dtype), 1);
    }));
  }
  for (const DType dtype : kBlocks) {
    const std::int64_t block = info_of(dtype).block_elements;
    for (const std::size_t dim : {0U, 1U}) {
      cases.push_back(
          row(std::string(name_of(dtype)) + "_dim_" + std::to_string(dim), [=](CaseContext& c) {
            Recorder& r = c.recorder();
            const Tensor a = slice(r, c.input({9, 3 * block}, dtype), 0, 3, 5);
            const Tensor b = c.input({5, (dim == 0 ? 3 : 1) * block}, dtype);
            return concat(r, a, b, dim);
          }));
    }
  }
  cases.push_back(row("strided", [](CaseContext& c) {
    Recorder& r = c.recorder();
    const Tensor a = permute(r, c.input({65, 4, 9}), {2, 1, 0});
    const Tensor b = slice(r, c.input({9, 4, 130}), 2, 3, 31);
    return concat(r, slice(r, a, 1, 1, 3), slice(r, b, 1, 0, 3), 2);
  }));
  cases.push_back(row("columns_of_1", [](CaseContext& c) {
    return concat(c.recorder(), c.input({9001, 1}), c.input({9001, 3}), 1);
  }));
  cases.push_back(row("large", [](CaseContext& c) {
    const Tensor a = permute(c.recorder(), c.input({67, 3, 130}), {1, 0, 2});
    const Tensor b = permute(c.recorder(), c.input({71, 67, 3}), {2, 1, 0});
    return concat(c.recorder(), a, b, 2);
  }));
  cases.push_back(row("with_nothing", [](CaseContext& c) {
    return concat(c.recorder(), c.input({0, 5}), c.input({3, 5}), 0);
  }));
  cases.push_back(row("with_itself", [](CaseContext& c) {
    const Tensor x = c.input({257, 3}, DType::f16);
    return concat(c.recorder(), x, x, 0);
  }));
  return cases;
}

std::vector<OpCase> repeat_cases() {
  std::vector<OpCase> cases{
      row("once",
          [](CaseContext& c) {
            return repeat(c.recorder(), c.input({3, 5}), {3, 5});
          }),
      row("of_1", [](CaseContext& c) { return repeat(c.recorder(), c.input({1}), {1031}); }),
      row("all_dimensions",
          [](CaseContext& c) {
            return repeat(c.recorder(), c.input({1, 2, 3, 5}), {2, 4, 9, 10});
          }),
      row("further_dimensions",
          [](CaseContext& c) {
            return repeat(c.recorder(), c.input({3, 67}), {2, 5, 6, 67});
          }),
      row("columns_of_1",
          [](CaseContext& c) {
            return repeat(c.recorder(), c.input({3001, 1}), {3001, 7});
          }),
      row("large",
          [](CaseContext& c) {
            const Tensor x = permute(c.recorder(), c.input({67, 1, 33}), {2, 1, 0});
            return repeat(c.recorder(), x, {3, 33, 5, 134});
          }),
      row("strided", [](CaseContext& c) {
        const Tensor x = permute(c.recorder(), c.input({65, 4, 9}), {2, 1, 0});
        return repeat(c.recorder(), slice(c.recorder(), x, 1, 1, 2), {9, 4, 130});
      })};
  for (const DType dtype : kPlain) {
    cases.push_back(row(std::string(name_of(dtype)), [=](CaseContext& c) {
      return repeat(c.recorder(), of(c, {3, 33}, dtype), {9, 66});
    }));
  }
  for (const DType dtype : kBlocks) {
    cases.push_back(row(std::string(name_of(dtype)), [=](CaseContext& c) {
      const std::int64_t block = info_of(dtype).block_elements;
      const Tensor x = slice(c.recorder(), c.input({5, 3 * block}, dtype), 0, 1, 3);
      return repeat(c.recorder(), x, {2, 6, 6 * block});
    }));
  }
  return cases;
}

std::vector<OpCase> pad_cases() {
  std::vector<OpCase> cases{
      row("nothing",
          [](CaseContext& c) {
            return pad(c.recorder(), c.input({3, 5}), {});
          }),
      row("of_1",
          [](CaseContext& c) {
            return pad(c.recorder(), c.input({1}), {.before = {31}, .after = {1}});
          }),
      row("all_dimensions",
          [](CaseContext& c) {
            return pad(c.recorder(), c.input({2, 3, 5, 67}),
                       {.before = {1, 0, 2, 3}, .after = {0, 1, 3, 61}});
          }),
      row("an_empty_one",
          [](CaseContext& c) {
            return pad(c.recorder(), c.input({0, 5}), {.before = {2, 1}, .after = {1, 0}});
          }),
      row("large",
          [](CaseContext& c) {
            return pad(c.recorder(), c.input({2, 7, 50, 71}),
                       {.before = {0, 0, 1, 1}, .after = {1, 0, 1, 1}});
          }),
      row("long_rows",  // whose columns threads share
          [](CaseContext& c) {
            return pad(c.recorder(), c.input({2, 3, 1100}), {.before = {1, 7}, .after = {2, 1}});
          }),
      row("strided", [](CaseContext& c) {
        const Tensor x = permute(c.recorder(), c.input({65, 4, 9}), {2, 1, 0});
        return pad(c.recorder(), slice(c.recorder(), x, 1, 1, 2),
                   {.before = {0, 1, 3}, .after = {1, 0, 7}});
      })};
  for (const DType dtype : kPlain) {
    cases.push_back(row(std::string(name_of(dtype)), [=](CaseContext& c) {
      return pad(c.recorder(), of(c, {9, 33}, dtype), {.before = {1, 7}, .after = {2, 0}});
    }));
  }
  for (const DType dtype : kBlocks) {
    cases.push_back(row(std::string(name_of(dtype)), [=](CaseContext& c) {
      const auto block = static_cast<std::int32_t>(info_of(dtype).block_elements);
      const Tensor x = slice(c.recorder(), c.input({5, 3 * block}, dtype), 0, 1, 3);
      return pad(c.recorder(), x, {.before = {1, 2 * block}, .after = {0, block}});
    }));
  }
  return cases;
}

}  // namespace

std::vector<OpCase> movement_cases(std::string_view op) {
  return op == "concat" ? concat_cases() : op == "pad" ? pad_cases() : repeat_cases();
}

}  // namespace reprise::testing
