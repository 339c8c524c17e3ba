#include "reprise/ops/binary.h"
#include "reprise/ops/pool.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

double limit_of(PoolMode mode) { return mode == PoolMode::max ? 0 : 1e-13; }
const char* why(PoolMode mode) {
  return mode == PoolMode::max ? "moves bits" : "f32 sums of a window";
}
std::string mode_name(PoolMode mode) { return mode == PoolMode::max ? "_max" : "_mean"; }

OpCase flat(const std::string& name, const Shape& x, const Pool1dAttributes& a) {
  return {name + mode_name(a.mode), limit_of(a.mode), why(a.mode),
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {pool_1d(c.recorder(), c.input(x), a)};
          }};
}

OpCase image(const std::string& name, const Shape& x, const Pool2dAttributes& a) {
  return {name + mode_name(a.mode), limit_of(a.mode), why(a.mode),
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor turned = permute(r, c.input(x), {0, 2, 1});
            return {pool_2d(r, c.input(x), a), pool_2d(r, turned, a)};
          }};
}

// Infinities of both signs and NaN in the first or the last place of a window.
OpCase not_numbers(PoolMode mode) {
  return {"not_numbers" + mode_name(mode), 1e-13, why(mode),
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = c.input({3, 1}, DType::f32, 2, 3);
            const Tensor large = c.input({3, 5}, DType::f32, -3e38, 3e38);
            const Tensor infinite = mul(r, large, c.input({1}, DType::f32, 3e38, 3e38));
            const Tensor none = mul(r, infinite, c.input({5}, DType::f32, 0, 0));
            return {pool_1d(r, infinite, {.width = 3, .stride = 1, .mode = mode}),
                    pool_1d(r, none, {.width = 3, .stride = 2, .padding = 1, .mode = mode}),
                    pool_1d(r, x, {.width = 3, .stride = 1, .padding = 2, .mode = mode})};
          }};
}

}  // namespace

std::vector<OpCase> pool_cases(std::string_view op) {
  std::vector<OpCase> cases;
  for (const PoolMode mode : {PoolMode::max, PoolMode::mean}) {
    if (op == "pool_1d") {
      cases.push_back(flat("1", {1}, {.width = 1, .mode = mode}));
      cases.push_back(flat("halves", {5, 3, 64}, {.mode = mode}));
      cases.push_back(flat("overlapping", {2, 3, 5, 257},
                           {.width = 7, .stride = 3, .padding = 6, .mode = mode}));
      cases.push_back(flat("every_column", {40, 3, 260}, {.width = 5, .stride = 1, .mode = mode}));
      cases.push_back(
          flat("wide_window", {2, 90}, {.width = 40, .stride = 2, .padding = 39, .mode = mode}));
      cases.push_back(flat("gaps", {65, 13}, {.width = 2, .stride = 5, .mode = mode}));
      cases.push_back(not_numbers(mode));
    } else {
      cases.push_back(image("1x1", {1, 1, 1}, {.height = 1, .width = 1, .mode = mode}));
      cases.push_back(image("halves", {7, 16, 18}, {.mode = mode}));
      for (const std::int32_t stride : {1, 2}) {
        cases.push_back(image("stride_" + std::to_string(stride), {5, 61, 67},
                              {.height = 3,
                               .width = 3,
                               .stride_y = stride,
                               .stride_x = stride,
                               .padding_y = 1,
                               .padding_x = 1,
                               .mode = mode}));
      }
      cases.push_back(image("uneven", {3, 33, 35},
                            {.height = 3,
                             .width = 5,
                             .stride_y = 1,
                             .stride_x = 4,
                             .padding_y = 2,
                             .padding_x = 1,
                             .mode = mode}));
    }
  }
  return cases;
}

}  // namespace reprise::testing
