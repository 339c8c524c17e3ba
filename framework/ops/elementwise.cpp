#include "framework/ops/elementwise.h"

namespace reprise::ops {

Outputs elementwise_infer(const OpCall& call) {
  const auto x = call.inputs[0].shape().padded();
  const auto y = call.inputs[1].shape().padded();
  for (std::size_t i = 0; i < x.size(); ++i) {
    require_pair(x[i] == y[i] || (y[i] > 0 && x[i] % y[i] == 0), call,
                 "every dimension of x to be a multiple of the one of y, aligned at the last", 0,
                 1);
  }
  return TensorSpec{call.inputs[0].shape(), DType::f32};
}

Cost elementwise_cost(const BoundCall& call) {
  return streaming_cost(call, static_cast<std::uint64_t>(call.tensors[0].shape().elements()));
}

void elementwise_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& y = call.tensors[1];
  indexable_elements(x);
  indexable_elements(y);
  const ElementwisePush push{shape_words(x.shape()), shape_words(y.shape()), view_of(x, traits),
                             view_of(y, traits), indexable_elements(call.tensors[2])};
  steps.dispatch(call, traits, {call.op.shaders[0], {traits.workgroup_size}, 1},
                 groups_for(push.elements, traits.workgroup_size), push);
}

}  // namespace reprise::ops
