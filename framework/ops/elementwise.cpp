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

bool in_whole_texels(const BoundTensor& tensor, const View& view) {
  constexpr std::uint32_t kTexelElements = 4;
  constexpr std::int64_t kFewest = 64;  // for fewer the views of texels cost more than they save
  const std::int64_t elements = tensor.shape().elements();
  return tensor.spec->contiguous() && view.offset % kTexelElements == 0 &&
         elements % kTexelElements == 0 && elements >= kFewest;
}

void elementwise_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& y = call.tensors[1];
  indexable_elements(x);
  indexable_elements(y);
  const ElementwisePush push{shape_words(x.shape()), shape_words(y.shape()), view_of(x, traits),
                             view_of(y, traits), indexable_elements(call.tensors[2])};
  const bool lanes = traits.kernels == KernelFamily::lanes && push.shape == push.y_shape &&
                     in_whole_texels(x, push.x) && in_whole_texels(y, push.y);
  steps.dispatch(call, traits, {call.op.shaders[lanes ? 1 : 0], {traits.workgroup_size}, 1},
                 groups_for({x.shape(), push.elements}, (lanes ? 4 : 1) * traits.workgroup_size),
                 push);
}

}  // namespace reprise::ops
