#include "reprise/ops/matmul_group.h"

#include <algorithm>

#include "framework/core/record.h"
#include "framework/ops/matmul_rows.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "framework/ops/weight_formats.h"
#include "framework/ops/weight_parts.h"

namespace reprise::ops {

extern const OpDef matmul_def;

namespace {

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"w0", Access::read, kWeightTypes, false, Layout::rows},
                                 {"w1", Access::read, kWeightTypes, false, Layout::rows},
                                 {"w2", Access::read, kWeightTypes, true, Layout::rows}};
constexpr Operand kResults[] = {{"y0", Access::write, accepts({DType::f32})},
                                {"y1", Access::write, accepts({DType::f32})},
                                {"y2", Access::write, accepts({DType::f32}), true}};
constexpr std::size_t kMost = std::size(kResults);
constexpr auto kShaders = kFormatShaders<"matmul_group.">;

// Mirrors the push block of shaders/matmul_group.comp.
struct Part {
  std::uint32_t columns;
  std::uint32_t w_offset;
  std::uint32_t w_row;
  std::uint32_t y_offset;
};
struct Push {
  std::array<std::uint32_t, 4> shape;  // of all results side by side
  View x;
  std::uint32_t k;
  std::array<Part, kMost> parts;
};

/// The product i of a group: x, its weights, no residual, its result.
template <class T>
std::array<T, 4> product_of(std::span<const T> tensors, std::size_t i) {
  return {tensors[0], tensors[1 + i], T{}, tensors[1 + kMost + i]};
}

std::size_t products_of(const auto& inputs) { return inputs[kMost] ? kMost : kMost - 1; }

Outputs infer(const OpCall& call) {
  Outputs outputs;
  for (std::size_t i = 0; i < products_of(call.inputs); ++i) {
    const TensorRef& w = call.inputs[1 + i];
    require_rank(call, 1 + i, 2);
    require_pair(w.dtype() == call.inputs[1].dtype(), call, "weights of one dtype", 1, 1 + i);
    require_pair(w.shape().dim(0) > 0, call, "weights with at least 1 row", 1, 1 + i);
    const TensorRef inputs[] = {call.inputs[0], w, {}};
    outputs.specs[outputs.count++] =
        matmul_def.infer({call.recorder, matmul_def, inputs, call.attributes, call.where}).specs[0];
  }
  return outputs;
}

Cost cost(const BoundCall& call) {
  std::uint64_t operations = 0;
  for (std::size_t i = 0; i < products_of(call.tensors); ++i) {
    const auto tensors = product_of(call.tensors, i);
    operations += matmul_def.cost({matmul_def, call.node, tensors, {}, {}}).operations;
  }
  return streaming_cost(call, operations);
}

void reference(const HostCall& call) {
  for (std::size_t i = 0; i < products_of(call.tensors); ++i) {
    const auto tensors = product_of(call.tensors, i);
    matmul_def.reference({matmul_def, tensors, {}, nullptr});
  }
}

/// Whether one dispatch computes all of them.
bool together(const BoundCall& call, const DeviceTraits& traits) {
  const auto weights = call.tensors.subspan(1, products_of(call.tensors));
  return traits.kernels == KernelFamily::portable &&
         std::ranges::all_of(weights,
                             [&](const BoundTensor& w) { return fits_one_binding(w, traits); });
}

void dispatch(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  std::array<BoundTensor, 1 + 2 * kMost> tensors;
  std::ranges::copy(call.tensors, tensors.begin());
  Push push{{}, view_of(x, traits), word(x.shape().back()), {}};
  std::int64_t columns = 0;
  for (std::size_t i = 0; i < products_of(call.tensors); ++i) {
    const BoundTensor& w = tensors[1 + i];
    const BoundTensor& y = tensors[1 + kMost + i];
    indexable_elements(y);
    const View view = view_of(w, traits);
    push.parts[i] = {word(y.shape().back()), view.offset, view.strides[2],
                     view_of(y, traits).offset};
    columns += y.shape().back();
  }
  for (const std::size_t absent : {kMost, 2 * kMost}) {
    if (!tensors[absent]) {
      tensors[absent] = tensors[absent - 1];  // what is bound there has to be of its kind
    }
  }
  const Shape stacked = x.shape().with_back(columns);
  push.shape = shape_words(stacked);
  const Dispatch chosen = rows_dispatch(call, stacked, tensors[1].dtype(), traits);
  steps.dispatch({call.op, call.node, tensors, call.state, call.attributes}, traits, chosen.kernel,
                 chosen.groups, push);
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  if (together(call, traits)) {
    dispatch(call, traits, steps);
    return;
  }
  for (std::size_t i = 0; i < products_of(call.tensors); ++i) {
    const auto tensors = product_of(call.tensors, i);
    matmul_def.lower({matmul_def, call.node, tensors, call.state, call.attributes}, traits, steps);
  }
}

}  // namespace

extern const OpDef matmul_group_def;
const OpDef matmul_group_def{.name = "matmul_group",
                             .family = OpFamily::product,
                             .operands = kOperands,
                             .results = kResults,
                             .push_bytes = sizeof(Push),
                             .shaders = kShaders,
                             .infer = infer,
                             .cost = cost,
                             .reference = reference,
                             .lower = lower,
                             .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

ProductGroup matmul_group(Site site, TensorRef x, TensorRef w0, TensorRef w1, TensorRef w2) {
  Tensor results[3];
  record_into(results, site, ops::matmul_group_def, {x, w0, w1, w2}, NoAttributes{});
  return {results[0], results[1], results[2]};
}

}  // namespace reprise
