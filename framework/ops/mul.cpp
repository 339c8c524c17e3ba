#include "reprise/ops/mul.h"

#include "framework/ops/elementwise.h"

namespace reprise::ops {
namespace {

constexpr std::string_view kShaders[] = {"mul", "mul.lanes"};

void reference(const HostCall& call) {
  elementwise_reference(call, [](double x, double y) { return x * y; });
}

}  // namespace

extern const OpDef mul_def;
constinit const OpDef mul_def = elementwise_def("mul", kShaders, reference);

}  // namespace reprise::ops

namespace reprise {

Tensor mul(Site site, TensorRef x, TensorRef y) {
  return record(site, ops::mul_def, {x, y}, ops::NoAttributes{});
}

}  // namespace reprise
