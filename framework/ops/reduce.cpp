#include "reprise/ops/reduce.h"

#include <cmath>
#include <limits>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/row_grid.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr std::string_view kShaders[] = {"reduce.max",      "reduce.gpu_max",     "reduce.mean",
                                         "reduce.gpu_mean", "reduce.sum",         "reduce.gpu_sum",
                                         "reduce.sum_rows", "reduce.gpu_sum_rows"};

// Mirrors the push block of shaders/include/reduce.glsl.
struct Push {
  StridedTensor x;
  std::uint32_t elements;
};

void require_columns(const OpCall& call) {
  if (call.inputs[0].shape().back() < 1) {
    throw_invalid_argument(call.op.name, " needs at least 1 column, but got ", describe(call, 0),
                           ".");
  }
}

Outputs infer_rows(const OpCall& call) {
  require_columns(call);
  return TensorSpec{call.inputs[0].shape().with_back(1), DType::f32};
}

Outputs infer_all(const OpCall& call) {
  require_columns(call);
  return TensorSpec{{1}, DType::f32};
}

/// Calls f(the sum of a row) for each.
template <class F>
void for_each_sum(const HostTensor& x, F&& f) {
  for_each_float_row(x, [&](const FloatRow& row) {
    double sum = 0;
    for (std::int64_t c = 0; c < row.columns; ++c) {
      sum += static_cast<double>(row[c]);
    }
    f(sum);
  });
}

void sum_rows_reference(const HostCall& call) {
  float* y = elements_of<float>(call.tensors[1]);
  for_each_sum(call.tensors[0], [&](double sum) { *y++ = static_cast<float>(sum); });
}

void mean_reference(const HostCall& call) {
  const auto cols = static_cast<double>(call.tensors[0].shape().back());
  float* y = elements_of<float>(call.tensors[1]);
  for_each_sum(call.tensors[0], [&](double sum) { *y++ = static_cast<float>(sum / cols); });
}

void sum_reference(const HostCall& call) {
  double all = 0;
  for_each_sum(call.tensors[0], [&](double sum) { all += sum; });
  *elements_of<float>(call.tensors[1]) = static_cast<float>(all);
}

void max_reference(const HostCall& call) {
  float* y = elements_of<float>(call.tensors[1]);
  for_each_float_row(call.tensors[0], [&](const FloatRow& row) {
    float largest = row[0];
    for (std::int64_t c = 1; c < row.columns && !std::isnan(largest); ++c) {
      largest = row[c] > largest || std::isnan(row[c]) ? row[c] : largest;
    }
    *y++ = std::isnan(largest) ? std::numeric_limits<float>::quiet_NaN() : largest + 0.0F;
  });
}

void lower_over(const BoundCall& call, const Shape& rows, const DeviceTraits& traits,
                StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const Push push{{x, traits}, indexable_elements(x)};
  dispatch_rows(call, traits, steps, rows, {.passes = 1}, push);
}

void lower_rows(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  lower_over(call, call.tensors[0].shape(), traits, steps);
}

void lower_all(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  lower_over(call, {1, call.tensors[0].shape().elements()}, traits, steps);
}

constexpr OpDef reduce_def(std::string_view name, void (*reference)(const HostCall&),
                           bool by_row = true) {
  return {.name = name,
          .family = OpFamily::other,
          .operands = kStridedX,
          .results = kFloatY,
          .push_bytes = sizeof(Push),
          .shaders = shaders_of(kShaders, name, 2),
          .infer = by_row ? infer_rows : infer_all,
          .cost = cost_per_element<1>,
          .reference = reference,
          .lower = by_row ? lower_rows : lower_all,
          .extents = by_row ? ExtentRule::rows : ExtentRule::none};
}

}  // namespace

extern const OpDef max_def, mean_def, sum_def, sum_rows_def;
constinit const OpDef max_def = reduce_def("max", max_reference);
constinit const OpDef mean_def = reduce_def("mean", mean_reference);
constinit const OpDef sum_def = reduce_def("sum", sum_reference, false);
constinit const OpDef sum_rows_def = reduce_def("sum_rows", sum_rows_reference);

}  // namespace reprise::ops

namespace reprise {

Tensor max(Site site, TensorRef x) { return record(site, ops::max_def, {x}); }

Tensor mean(Site site, TensorRef x) { return record(site, ops::mean_def, {x}); }

Tensor sum(Site site, TensorRef x) { return record(site, ops::sum_def, {x}); }

Tensor sum_rows(Site site, TensorRef x) { return record(site, ops::sum_rows_def, {x}); }

}  // namespace reprise
