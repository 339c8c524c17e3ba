#include "reprise/ops/binary.h"

#include <functional>

#include "framework/core/record.h"
#include "framework/ops/elementwise.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::any},
                                 {"y", Access::read, accepts({DType::f32}), false, Layout::any}};
constexpr Operand kResults[] = {{"z", Access::write, accepts({DType::f32})}};
constexpr std::string_view kShaders[] = {"binary.add",       "binary.lanes_add", "binary.div",
                                         "binary.lanes_div", "binary.mul",       "binary.lanes_mul",
                                         "binary.sub",       "binary.lanes_sub"};

// Mirrors the push block of shaders/binary.comp.
struct Push {
  std::array<std::uint32_t, 4> shape;
  std::array<std::uint32_t, 4> y_shape;
  View x;
  View y;
  std::uint32_t elements;
};

Outputs infer(const OpCall& call) {
  const auto x = call.inputs[0].shape().padded();
  const auto y = call.inputs[1].shape().padded();
  for (std::size_t i = 0; i < x.size(); ++i) {
    require_pair(x[i] == y[i] || (y[i] > 0 && x[i] % y[i] == 0), call,
                 "every dimension of x to be a multiple of the one of y, aligned at the last", 0,
                 1);
  }
  return TensorSpec{call.inputs[0].shape(), DType::f32};
}

/// z[i] = F()(x[i], y[i mod extents of y]), computed in float64.
template <class F>
void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& y = call.tensors[1];
  const auto dims = y.shape().padded();
  const std::int64_t cols = x.shape().back();
  const std::int64_t x_stride = last_stride(x);
  const std::int64_t y_stride = last_stride(y);
  float* to = elements_of<float>(call.tensors[2]);
  for_each_row(x.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const float* a = elements_of<const float>(x) + x.row(i0, i1, i2);
    const float* b = elements_of<const float>(y) + y.row(i0 % dims[0], i1 % dims[1], i2 % dims[2]);
    for (std::int64_t c = 0; c < cols; c += dims[3]) {
      for (std::int64_t d = 0; d < dims[3]; ++d) {
        *to++ = static_cast<float>(
            F()(static_cast<double>(a[(c + d) * x_stride]), static_cast<double>(b[d * y_stride])));
      }
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& y = call.tensors[1];
  indexable_elements(x);
  indexable_elements(y);
  const Push push{shape_words(x.shape()), shape_words(y.shape()), view_of(x, traits),
                  view_of(y, traits), indexable_elements(call.tensors[2])};
  const bool lanes = traits.kernels == KernelFamily::lanes && push.shape == push.y_shape &&
                     in_whole_texels(x, push.x) && in_whole_texels(y, push.y);
  dispatch_units(call, traits, steps, call.op.shaders[lanes ? 1 : 0], {x.shape(), push.elements},
                 push, lanes ? 4 : 1);
}

template <class F>
constexpr OpDef binary_def(std::string_view name) {
  return {.name = name,
          .family = OpFamily::elementwise,
          .operands = kOperands,
          .results = kResults,
          .push_bytes = sizeof(Push),
          .shaders = shaders_of(kShaders, name, 2),
          .infer = infer,
          .cost = cost_per_element<1>,
          .reference = reference<F>,
          .lower = lower,
          .overwrites = 0,
          .extents = ExtentRule::elements};
}

}  // namespace

extern const OpDef add_def, div_def, mul_def, sub_def;
constinit const OpDef add_def = binary_def<std::plus<>>("add");
constinit const OpDef div_def = binary_def<std::divides<>>("div");
constinit const OpDef mul_def = binary_def<std::multiplies<>>("mul");
constinit const OpDef sub_def = binary_def<std::minus<>>("sub");

}  // namespace reprise::ops

namespace reprise {

Tensor add(Site site, TensorRef x, TensorRef y) { return record(site, ops::add_def, {x, y}); }
Tensor div(Site site, TensorRef x, TensorRef y) { return record(site, ops::div_def, {x, y}); }
Tensor mul(Site site, TensorRef x, TensorRef y) { return record(site, ops::mul_def, {x, y}); }
Tensor sub(Site site, TensorRef x, TensorRef y) { return record(site, ops::sub_def, {x, y}); }

}  // namespace reprise
