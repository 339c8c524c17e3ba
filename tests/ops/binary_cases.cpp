#include <algorithm>

#include "reprise/ops/binary.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-13;
constexpr const char* kWhy = "one f32 rounding per element, quotients to 2.5 ulp";

using Binary = Tensor (*)(Site, TensorRef, TensorRef);
struct NamedBinary {
  std::string_view name;
  Binary op;
};
constexpr NamedBinary kOps[] = {{"add", add}, {"div", div}, {"mul", mul}, {"sub", sub}};

OpCase row(Binary op, const std::string& name, const Shape& x, const Shape& y) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {op(c.recorder(), c.input(x), c.input(y))};
          }};
}

// Neither last stride is 1, and both start inside a binding.
OpCase strided(Binary op) {
  return {
      "strided", kLimit, kWhy, [op](CaseContext& c) -> std::vector<Tensor> {
        const Tensor x = permute(c.recorder(), c.input({9, 4, 65}), {2, 1, 0});
        const Tensor y = permute(c.recorder(), c.input({3, 5}), {1, 0});
        return {op(c.recorder(), slice(c.recorder(), x, 1, 1, 2), slice(c.recorder(), y, 0, 2, 1))};
      }};
}

// Of one shape and in order, from an element on that begins 16 bytes or does not.
OpCase in_order(Binary op, std::int64_t first) {
  return {"in_order_from_" + std::to_string(first), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor y = reshape(r, slice(r, c.input({108 + first}), 0, first, 108), {3, 36});
            return {op(r, slice(r, c.input({6, 36}), 0, 2, 3), y)};
          }};
}

OpCase itself(Binary op) {
  return {"with_itself", kLimit, kWhy, [op](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.input({3, 257});
            return {op(c.recorder(), x, x)};
          }};
}

}  // namespace

std::vector<OpCase> binary_cases(std::string_view name) {
  const Binary op = std::ranges::find(kOps, name, &NamedBinary::name)->op;
  return {row(op, "1x1", {1, 1}, {1, 1}),
          row(op, "same", {2, 7, 65}, {2, 7, 65}),
          row(op, "large", {65, 1031}, {65, 1031}),
          row(op, "row", {2, 7, 257}, {257}),
          row(op, "column", {2, 7, 65}, {7, 1}),
          row(op, "tile", {2, 6, 10, 12}, {3, 5, 6}),
          row(op, "scalar", {2, 7, 65}, {1}),
          row(op, "higher_rank", {65}, {1, 1, 65}),
          row(op, "fours", {3, 5, 12}, {3, 5, 12}),
          row(op, "one_four", {4}, {4}),
          row(op, "16_fours", {64}, {64}),
          in_order(op, 4),
          in_order(op, 3),
          strided(op),
          itself(op)};
}

}  // namespace reprise::testing
