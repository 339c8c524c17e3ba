#include "reprise/ops/add.h"

#include "framework/ops/elementwise.h"

namespace reprise::ops {
namespace {

constexpr std::string_view kShaders[] = {"add", "add.lanes"};

void reference(const HostCall& call) {
  elementwise_reference(call, [](double x, double y) { return x + y; });
}

}  // namespace

extern const OpDef add_def;
constinit const OpDef add_def = elementwise_def("add", kShaders, reference);

}  // namespace reprise::ops

namespace reprise {

Tensor add(Site site, TensorRef x, TensorRef y) {
  return record(site, ops::add_def, {x, y}, ops::NoAttributes{});
}

}  // namespace reprise
