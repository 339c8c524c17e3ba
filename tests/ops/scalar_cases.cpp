#include <algorithm>

#include "reprise/ops/scalar.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kFewUlp = "a few ulp per element";
constexpr double kTwoRoundings = 3e-14;
constexpr const char* kTwice = "rounded at most twice";
constexpr const char* kNoRounding = "the element or a limit";

using Function = std::function<Tensor(Recorder&, const Tensor&)>;
struct NamedFunction {
  std::string_view op;
  std::string label;
  double limit;
  const char* why;
  Function f;
};

std::vector<NamedFunction> functions() {
  const auto scaled = [](ScaleAttributes a) {
    return [a](Recorder& r, const Tensor& x) { return scale(r, x, a); };
  };
  const auto clamped = [](ClampAttributes a) {
    return [a](Recorder& r, const Tensor& x) { return clamp(r, x, a); };
  };
  const auto capped = [](SoftcapAttributes a) {
    return [a](Recorder& r, const Tensor& x) { return softcap(r, x, a); };
  };
  return {{"scale", "scaled", kTwoRoundings, kTwice, scaled({.scale = 0.3F})},
          {"scale", "scaled_and_moved", kTwoRoundings, kTwice, scaled({.scale = -3, .bias = 20})},
          {"clamp", "between", 0, kNoRounding, clamped({.min = -1, .max = 0.5F})},
          {"clamp", "above", 0, kNoRounding, clamped({.min = 0.1F, .max = 100})},
          {"clamp", "at_one_value", 0, kNoRounding, clamped({.min = 2, .max = 2})},
          {"softcap", "softcap_30", 1e-13, kFewUlp, capped({.cap = 30})},
          {"softcap", "softcap_1", 1e-13, kFewUlp, capped({.cap = 1})}};
}

OpCase row(const NamedFunction& f, const std::string& label,
           std::function<Tensor(CaseContext&)> operand) {
  return {f.label + "_" + label, f.limit, f.why,
          [f, operand](CaseContext& c) -> std::vector<Tensor> {
            return {f.f(c.recorder(), operand(c))};
          }};
}

OpCase whole(const NamedFunction& f, const std::string& label, const Shape& shape) {
  return row(f, label, [shape](CaseContext& c) { return c.input(shape, DType::f32, -4, 4); });
}

// The last stride is not 1.
OpCase permuted(const NamedFunction& f) {
  return row(f, "permuted", [](CaseContext& c) {
    const Tensor x = slice(c.recorder(), c.input({3, 7, 66}, DType::f32, -90, 90), 1, 1, 5);
    return permute(c.recorder(), x, {2, 0, 1});
  });
}

}  // namespace

std::vector<OpCase> scalar_cases(std::string_view name) {
  std::vector<OpCase> rows;
  for (const NamedFunction& f : functions()) {
    if (f.op == name) {
      rows.push_back(whole(f, "1", {1}));
      rows.push_back(whole(f, "3x257", {3, 257}));
      rows.push_back(whole(f, "large", {65, 1031}));
      rows.push_back(permuted(f));
    }
  }
  return rows;
}

}  // namespace reprise::testing
