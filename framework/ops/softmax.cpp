#include "reprise/ops/softmax.h"

#include <cmath>
#include <limits>
#include <vector>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/row_grid.h"
#include "framework/ops/schema.h"
#include "framework/ops/scores.h"

namespace reprise::ops {
namespace {

// What is recorded: mask and sinks become operands.
struct Form {
  Param<float> scale;
  Param<float> max_bias;
};

constexpr Operand kOperands[] = {
    {"x", Access::read, accepts({DType::f32}), false, Layout::rows},
    {"mask", Access::read, accepts({DType::f32, DType::f16}), true, Layout::rows},
    {"sinks", Access::read, accepts({DType::f32}), true}};
constexpr Attribute kAttributes[] = {
    {"scale", AttributeType::param_f32, offsetof(Form, scale)},
    {"max_bias", AttributeType::param_f32, offsetof(Form, max_bias)}};
// By mask, then with an invocation or a workgroup per row.
constexpr std::string_view kShaders[] = {"softmax.log_softmax_f32", "softmax.gpu_log_softmax_f32",
                                         "softmax.log_softmax_f16", "softmax.gpu_log_softmax_f16",
                                         "softmax.softmax_f32",     "softmax.gpu_softmax_f32",
                                         "softmax.softmax_f16",     "softmax.gpu_softmax_f16"};

// Mirrors the push block of shaders/include/softmax.glsl.
struct Push {
  StridedTensor x;
  View mask;
  std::array<std::uint32_t, 2> mask_shape;  // its two outer dimensions
  Param<float> scale;
  Param<float> max_bias;
  std::uint32_t sinks_offset;
  std::uint32_t given;  // bit 0: mask, bit 1: sinks
};

Outputs infer(const OpCall& call) {
  const Shape& x = call.inputs[0].shape();
  const auto dims = x.padded();
  if (call.inputs[1]) {
    const auto mask = call.inputs[1].shape().padded();
    const auto repeats = [&](std::size_t i) { return mask[i] > 0 && dims[i] % mask[i] == 0; };
    require_equal_columns(call, 0, 1);
    require_pair(call.inputs[1].shape().fixed() ||
                     call.inputs[1].shape().rank() == call.inputs[0].shape().rank(),
                 call, "a mask whose extent of the state is that of the same dimension of x", 0, 1);
    require_pair(mask[2] >= dims[2] && repeats(0) && repeats(1), call,
                 "a mask with at least the rows of x, whose outer dimensions divide those of x", 0,
                 1);
  }
  if (call.inputs[2]) {
    require_rank(call, 2, 1);
    require_pair(call.inputs[2].shape().back() == dims[1], call, "a sink for each head of x", 0, 2);
  }
  const Param<float>& max_bias = call.as<Form>().max_bias;
  if (!x.fixed() && x.rank() == 3 && (max_bias.dynamic() || max_bias.value > 0)) {
    throw_invalid_argument(call.op.name,
                           " with slopes needs a fixed number of heads, but the heads of ",
                           describe(call, 0), " are an extent of the state.");
  }
  return TensorSpec{x, DType::f32};
}

void reference(const HostCall& call, bool logarithm) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& mask = call.tensors[1];
  const HostTensor& sinks = call.tensors[2];
  const Form& form = call.as<Form>();
  const auto scale = static_cast<double>(call.value(form.scale));
  const auto max_bias = static_cast<double>(call.value(form.max_bias));
  const std::int64_t heads = x.shape().padded()[1];
  const auto mask_dims = mask ? mask.shape().padded() : std::array<std::int64_t, 4>{};
  std::vector<double> values(static_cast<std::size_t>(x.shape().back()));
  float* y = elements_of<float>(call.tensors[3]);
  for_each_row(x.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const float* row = elements_of<const float>(x) + x.row(i0, i1, i2);
    const std::int64_t mask_row = mask ? mask.row(i0 % mask_dims[0], i1 % mask_dims[1], i2) : 0;
    const double slope = max_bias > 0 ? alibi_slope(max_bias, i1, heads) : 1;
    double largest = sinks ? sinks.load(i1) : -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < values.size(); ++c) {
      const double added = mask ? slope * mask.load(mask_row + static_cast<std::int64_t>(c)) : 0;
      values[c] = static_cast<double>(row[c]) * scale + added;
      largest = values[c] > largest ? values[c] : largest;
    }
    double sum = sinks ? std::exp(sinks.load(i1) - largest) : 0;
    for (const double v : values) {
      sum += std::exp(v - largest);
    }
    for (const double v : values) {
      *y++ =
          static_cast<float>(logarithm ? v - largest - std::log(sum) : std::exp(v - largest) / sum);
    }
  });
}

void softmax_reference(const HostCall& call) { reference(call, false); }
void log_softmax_reference(const HostCall& call) { reference(call, true); }

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& mask = call.tensors[1];
  const BoundTensor& sinks = call.tensors[2];
  const Form& form = call.as<Form>();
  if (mask) {
    indexable_elements(mask);
  }
  const auto mask_shape = mask ? shape_words(mask.shape()) : std::array<std::uint32_t, 4>{};
  const Push push{.x = {x, traits},
                  .mask = view_of(mask, traits),
                  .mask_shape = {mask_shape[0], mask_shape[1]},
                  .scale = form.scale,
                  .max_bias = form.max_bias,
                  .sinks_offset = view_of(sinks, traits).offset,
                  .given = (mask ? 1U : 0U) | (sinks ? 2U : 0U)};
  const std::size_t shader = mask && mask.dtype() == DType::f16 ? 2 : 0;
  // Largest, sum, result.
  dispatch_rows(call, traits, steps, x.shape(), {.passes = 3, .shader = shader}, push);
}

constexpr OpDef define(std::string_view name, void (*reference)(const HostCall&)) {
  return {.name = name,
          .family = OpFamily::norm,
          .operands = kOperands,
          .results = kFloatY,
          .attributes = kAttributes,
          .push_bytes = sizeof(Push),
          .shaders = shaders_of(kShaders, name, 4),
          .infer = infer,
          .cost = cost_per_element<5>,
          .reference = reference,
          .lower = lower,
          .extents = ExtentRule::rows};
}

}  // namespace

extern const OpDef log_softmax_def, softmax_def;
constinit const OpDef log_softmax_def = define("log_softmax", log_softmax_reference);
constinit const OpDef softmax_def = define("softmax", softmax_reference);

}  // namespace reprise::ops

namespace reprise {

Tensor softmax(Site site, TensorRef x, SoftmaxAttributes a) {
  return record(site, ops::softmax_def, {x, a.mask, a.sinks}, ops::Form{a.scale, a.max_bias});
}

Tensor log_softmax(Site site, TensorRef x, SoftmaxAttributes a) {
  return record(site, ops::log_softmax_def, {x, a.mask, a.sinks}, ops::Form{a.scale, a.max_bias});
}

}  // namespace reprise
