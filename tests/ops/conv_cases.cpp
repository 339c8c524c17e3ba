#include "reprise/ops/conv.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-12;
constexpr const char* kWhy = "f32 sums of all taps";

OpCase flat(const std::string& name, const Shape& x, const Shape& w, DType dtype,
            const Conv1dAttributes& a = {}) {
  return {name + "_" + std::string(name_of(dtype)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {conv_1d(c.recorder(), c.input(x), c.input(w, dtype), a)};
          }};
}

OpCase image(const std::string& name, const Shape& x, const Shape& w, DType dtype,
             const Conv2dAttributes& a = {}) {
  return {name + "_" + std::string(name_of(dtype)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {conv_2d(c.recorder(), c.input(x), c.input(w, dtype), a)};
          }};
}

std::vector<OpCase> flat_cases() {
  std::vector<OpCase> cases;
  for (const DType dtype : {DType::f32, DType::f16}) {
    cases.push_back(flat("1x1", {1, 1}, {1, 1, 1}, dtype));
    cases.push_back(flat("whole_length", {3, 7}, {5, 3, 7}, dtype));
    cases.push_back(flat("padded", {2, 13, 65}, {17, 13, 3}, dtype, {.padding = 1}));
    cases.push_back(flat("long", {2, 5, 3001}, {3, 5, 3}, dtype, {.padding = 1}));
    cases.push_back(flat("only_padding_before", {2, 3}, {3, 2, 4}, dtype, {.padding = 5}));
    cases.push_back(flat("by_two", {3, 7, 301}, {20, 7, 5}, dtype, {.stride = 2}));
    cases.push_back(flat("strided_dilated", {3, 8, 257}, {12, 4, 5}, dtype,
                         {.stride = 3, .padding = 7, .dilation = 4, .groups = 2}));
    cases.push_back(
        flat("depthwise", {2, 31, 129}, {62, 1, 4}, dtype, {.padding = 3, .groups = 31}));
  }
  cases.push_back({"turned", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
                     Recorder& r = c.recorder();
                     const Tensor x = slice(r, c.input({3, 40, 9}), 1, 5, 33);
                     const Tensor w = slice(r, c.input({12, 9, 3}, DType::f16), 0, 1, 11);
                     return {conv_1d(r, permute(r, x, {0, 2, 1}), w, {.stride = 2, .padding = 1})};
                   }});
  return cases;
}

std::vector<OpCase> image_cases() {
  std::vector<OpCase> cases;
  for (const DType dtype : {DType::f32, DType::f16}) {
    cases.push_back(image("1x1", {1, 1, 1}, {1, 1, 1, 1}, dtype));
    cases.push_back(
        image("patches", {3, 28, 42}, {33, 3, 14, 14}, dtype, {.stride_y = 14, .stride_x = 14}));
    cases.push_back(image("wide_patches", {9, 35, 100}, {13, 9, 2, 16}, dtype,
                          {.stride_y = 3, .stride_x = 5, .padding_x = 7}));
    cases.push_back(
        image("same", {2, 5, 17, 9}, {7, 5, 3, 3}, dtype, {.padding_y = 1, .padding_x = 1}));
    cases.push_back(image("many_places", {3, 80, 71}, {2, 3, 3, 3}, dtype,
                          {.stride_y = 1, .stride_x = 1, .padding_y = 1, .padding_x = 1}));
    cases.push_back(image("depthwise", {7, 9, 40}, {7, 1, 3, 3}, dtype,
                          {.padding_y = 1, .padding_x = 1, .groups = 7}));
    cases.push_back(image("uneven", {2, 6, 19, 31}, {4, 3, 2, 5}, dtype,
                          {.stride_y = 2,
                           .stride_x = 1,
                           .padding_y = 3,
                           .padding_x = 2,
                           .dilation_y = 5,
                           .dilation_x = 2,
                           .groups = 2}));
  }
  cases.push_back(image("many_outputs", {30, 9, 23}, {200, 30, 3, 3}, DType::f32,
                        {.padding_y = 1, .padding_x = 1}));
  cases.push_back({"turned", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
                     Recorder& r = c.recorder();
                     const Tensor x = permute(r, c.input({2, 11, 13, 3}), {0, 3, 2, 1});
                     return {conv_2d(r, x, c.input({5, 3, 3, 2}))};
                   }});
  return cases;
}

}  // namespace

std::vector<OpCase> conv_cases(std::string_view op) {
  return op == "conv_1d" ? flat_cases() : image_cases();
}

}  // namespace reprise::testing
