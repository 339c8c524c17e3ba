#include "framework/ops/elementwise.h"

namespace reprise::ops {

bool in_whole_texels(const BoundTensor& tensor, const View& view) {
  constexpr std::uint32_t kTexelElements = 4;
  constexpr std::int64_t kFewest = 64;  // for fewer the views of texels cost more than they save
  const std::int64_t elements = tensor.shape().elements();
  return tensor.spec->contiguous() && view.offset % kTexelElements == 0 &&
         elements % kTexelElements == 0 && elements >= kFewest;
}

Outputs unary_infer(const OpCall& call) { return TensorSpec{call.inputs[0].shape(), DType::f32}; }

void unary_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const UnaryPush push{{x, traits}, indexable_elements(call.tensors[1])};
  std::array<std::byte, 128> bytes;
  std::memcpy(bytes.data(), &push, sizeof(push));
  std::memcpy(bytes.data() + sizeof(push), call.attributes.data(),
              call.op.push_bytes - sizeof(push));
  steps.dispatch_bytes(call, traits, {call.op.shaders[0], {traits.workgroup_size}, 1},
                       groups_for({x.shape(), push.elements}, traits.workgroup_size),
                       std::span(bytes).first(call.op.push_bytes));
}

}  // namespace reprise::ops
