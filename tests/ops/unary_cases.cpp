#include <algorithm>

#include "reprise/ops/unary.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

struct Function {
  std::string_view name;
  Tensor (*op)(Site, TensorRef);
  double low, high;  // of the operand: results of one element are no small differences
  double limit;
};
constexpr double kBits = 0;
constexpr double kFewUlp = 1e-13;
constexpr double kRoundedExponent = 1e-12;  // of exp, whose results take it times its size
constexpr Function kOps[] = {{"cos", cos, -1, 1, kFewUlp},
                             {"exp", exp, -20, 5, kFewUlp},
                             {"gelu", gelu, -2, 5, kRoundedExponent},
                             {"gelu_erf", gelu_erf, -2, 5, kRoundedExponent},
                             {"gelu_quick", gelu_quick, -2, 5, kRoundedExponent},
                             {"log", log, 0, 4, kFewUlp},
                             {"neg", neg, -1, 1, kBits},
                             {"relu", relu, -1, 1, kBits},
                             {"sigmoid", sigmoid, -20, 20, kFewUlp},
                             {"silu", silu, -20, 5, kFewUlp},
                             {"sin", sin, 0.5, 2.5, kFewUlp},
                             {"sqr", sqr, -9, 9, kBits},
                             {"sqrt", sqrt, 0, 9, kFewUlp},
                             {"tanh", tanh, -4, 4, kFewUlp}};

OpCase row(const Function& f, const std::string& label,
           std::function<Tensor(CaseContext&, const Function&)> operand) {
  return {label, f.limit,
          f.limit == kBits ? "nothing is rounded, or once" : "a few ulp per element",
          [f, operand](CaseContext& c) -> std::vector<Tensor> {
            return {f.op(c.recorder(), operand(c, f))};
          }};
}

OpCase whole(const Function& f, const std::string& label, const Shape& shape) {
  return row(f, label, [shape](CaseContext& c, const Function& of) {
    return c.input(shape, DType::f32, of.low, of.high);
  });
}

// The last stride is not 1.
OpCase permuted(const Function& f) {
  return row(f, "permuted", [](CaseContext& c, const Function& of) {
    const Tensor x = c.input({3, 5, 7, 66}, DType::f32, of.low, of.high);
    return permute(c.recorder(), slice(c.recorder(), x, 2, 1, 5), {3, 0, 2, 1});
  });
}

// Rows that begin anywhere.
OpCase sliced(const Function& f) {
  return row(f, "sliced_rows", [](CaseContext& c, const Function& of) {
    return slice(c.recorder(), c.input({7, 71}, DType::f32, of.low, of.high), 1, 3, 65);
  });
}

}  // namespace

std::vector<OpCase> unary_cases(std::string_view name) {
  const Function& f = *std::ranges::find(kOps, name, &Function::name);
  return {whole(f, "1", {1}),
          whole(f, "3x257", {3, 257}),
          whole(f, "2x3x5x65", {2, 3, 5, 65}),
          whole(f, "large", {65, 1031}),
          permuted(f),
          sliced(f)};
}

}  // namespace reprise::testing
