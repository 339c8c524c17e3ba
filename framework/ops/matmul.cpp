#include "reprise/ops/matmul.h"

#include <algorithm>
#include <vector>

#include "framework/core/record.h"
#include "framework/ops/host_rows.h"
#include "framework/ops/matmul_gpu.h"
#include "framework/ops/matmul_lanes.h"
#include "framework/ops/matmul_rows.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "framework/ops/weight_formats.h"
#include "framework/ops/weight_parts.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"w", Access::read, kWeightTypes, false, Layout::rows},
                                 {"residual", Access::read, accepts({DType::f32}), true}};
constexpr std::size_t kResult = std::size(kOperands);
constexpr auto kShaders =
    joined(kFormatShaders<"matmul.">, kFormatShaders<"matmul.lanes_">,
           kFormatShaders<"matmul.gpu_vector_">, kFormatShaders<"matmul.gpu_tile_">);

/// Mirrors the constants of shaders/include/residual.glsl.
enum class Adds : std::uint32_t { nothing, all, row };

// Mirrors the push block of shaders/matmul.comp and its variants.
struct Push {
  std::array<std::uint32_t, 4> shape;  // of y
  View x;
  View w;
  View y;
  std::array<std::uint32_t, 2> share;  // heads of x per head of w
  std::uint32_t k;
  Adds adds;
  std::uint32_t residual_offset;
};

/// Whether it is one row that every row of the result is added to.
bool is_row_of(const Shape& residual, const Shape& y) {
  return residual.fixed() && residual.elements() == residual.back() && residual.back() == y.back();
}

Outputs infer(const OpCall& call) {
  const Shape& x = call.inputs[0].shape();
  const Shape& w = call.inputs[1].shape();
  if (w.rank() < 2) {
    throw_invalid_argument("matmul needs weights of rank 2 to 4, but ", describe(call, 1),
                           " has rank (", w.rank(), ").");
  }
  require_equal_columns(call, 0, 1);
  if (x.back() == 0) {
    throw_invalid_argument("matmul needs at least 1 column, but ", describe(call, 0), " has (0).");
  }
  const auto x_dims = x.padded();
  const auto w_dims = w.padded();
  for (std::size_t i = 0; i < 2; ++i) {
    require_pair(w_dims[i] > 0 && x_dims[i] % w_dims[i] == 0, call,
                 "leading dimensions of x that are multiples of those of w", 0, 1);
  }
  require_pair(w.fixed(), call, "weights with a fixed number of rows", 0, 1);
  require_pair(x.fixed() || w_dims[Shape::kMaxRank - x.rank()] == 1 || x.rank() == 2, call,
               "weights for all matrices of an extent", 0, 1);
  const TensorSpec y{x.with_back(w_dims[2]), DType::f32};
  const TensorRef& residual = call.inputs[2];
  if (residual && !(residual.shape() == y.shape) && !is_row_of(residual.shape(), y.shape)) {
    throw_invalid_argument("matmul needs a residual of the shape of its result ", to_string(y),
                           ", or one row of (", w_dims[2], "), but got ", describe(call, 2), ".");
  }
  return y;
}

Cost cost(const BoundCall& call) {
  const auto products = call.tensors[kResult].shape().elements() * call.tensors[0].shape().back();
  return streaming_cost(call, 2 * static_cast<std::uint64_t>(products));
}

void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& w = call.tensors[1];
  const HostTensor& residual = call.tensors[2];
  const HostTensor& y = call.tensors[kResult];
  const auto dims = x.shape().padded();
  const auto w_dims = w.shape().padded();
  const auto k = static_cast<std::size_t>(dims[3]);
  const bool one_row = residual && is_row_of(residual.shape(), y.shape());
  std::vector<double> rows(static_cast<std::size_t>(dims[2]) * k);
  std::vector<double> column(k);
  for (std::int64_t i0 = 0; i0 < dims[0]; ++i0) {
    for (std::int64_t i1 = 0; i1 < dims[1]; ++i1) {
      for (std::int64_t n = 0; n < dims[2]; ++n) {
        load_row(x, x.row(i0, i1, n), std::span(rows).subspan(static_cast<std::size_t>(n) * k, k));
      }
      const std::int64_t w0 = i0 / (dims[0] / w_dims[0]);
      const std::int64_t w1 = i1 / (dims[1] / w_dims[1]);
      for (std::int64_t m = 0; m < w_dims[2]; ++m) {
        load_row(w, w.row(w0, w1, m), column);
        for (std::int64_t n = 0; n < dims[2]; ++n) {
          const std::span<const double> row(rows.data() + static_cast<std::size_t>(n) * k, k);
          const std::int64_t to = y.row(i0, i1, n) + m;
          y.store(to, dot(row, column));
          if (residual) {
            y.store(to, y.load(to) + residual.load(one_row ? m : to));
          }
        }
      }
    }
  }
}

Dispatch dispatch_of(const BoundCall& call, const Push& push, const DeviceTraits& traits) {
  if (traits.kernels == KernelFamily::gpu) {
    return gpu_matmul(call, push.x, push.w, traits);
  }
  const std::int64_t k = call.tensors[0].shape().back();
  if (traits.kernels == KernelFamily::lanes && lanes_can(call, push.x, push.w)) {
    require_loop_limit(call, traits, k / 4, k);
    return lanes_matmul(call, call.tensors[kResult].shape());
  }
  return rows_dispatch(call, call.tensors[kResult].shape(), call.tensors[1].dtype(), traits);
}

void dispatch(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& w = call.tensors[1];
  const BoundTensor& residual = call.tensors[2];
  const BoundTensor& y = call.tensors[kResult];
  const auto dims = x.shape().padded();
  const auto w_dims = w.shape().padded();
  const std::array<std::uint32_t, 2> share = {word(dims[0] / w_dims[0]), word(dims[1] / w_dims[1])};
  indexable_elements(y);
  const Push push{shape_words(y.shape()),
                  view_of(x, traits),
                  view_of(w, traits),
                  view_of(y, traits),
                  share,
                  word(dims[3]),
                  !residual                                ? Adds::nothing
                  : is_row_of(residual.shape(), y.shape()) ? Adds::row
                                                           : Adds::all,
                  view_of(residual, traits).offset};
  const Dispatch chosen = dispatch_of(call, push, traits);
  steps.dispatch(call, traits, chosen.kernel, chosen.groups, push);
}

/// The part of x or y that goes with a part of the weights: the same leading dimensions.
Box beside(const Box& part, const std::array<std::int64_t, 4>& w_dims, const BoundTensor& tensor) {
  Box box(tensor.shape());
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t share = box.extent[i] / w_dims[i];
    box.first[i] = part.first[i] * share;
    box.extent[i] = part.extent[i] * share;
  }
  return box;
}

/// The part of a residual that goes with a part of y.
Box in_residual(Box columns, const BoundTensor& residual) {
  const auto dims = residual.shape().padded();
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) {
    if (dims[i] == 1) {  // one row, or y has one there too
      columns.first[i] = 0;
      columns.extent[i] = 1;
    }
  }
  return columns;
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& w = call.tensors[1];
  if (fits_one_binding(w, traits)) {
    dispatch(call, traits, steps);
    return;
  }
  // Parts that begin at aligned columns of a single row of y bind ranges of it that do not overlap:
  // no barrier goes between them.
  const std::int64_t aligned = std::max(traits.binding_alignment / 4, 1U);
  for (const Box& part : boxes_that_fit(w, traits, aligned)) {
    const auto w_dims = w.shape().padded();
    Box columns = beside(part, w_dims, call.tensors[kResult]);
    columns.first[3] = part.first[2];
    columns.extent[3] = part.extent[2];
    const BoxedTensor x_part(call.tensors[0], beside(part, w_dims, call.tensors[0]));
    const BoxedTensor w_part(w, part);
    const BoundTensor& residual = call.tensors[2];
    const BoxedTensor y_part(call.tensors[kResult], columns);
    const BoxedTensor residual_part(residual ? residual : call.tensors[kResult],
                                    residual ? in_residual(columns, residual) : columns);
    const BoundTensor tensors[] = {x_part.bound, w_part.bound,
                                   residual ? residual_part.bound : BoundTensor{}, y_part.bound};
    dispatch({call.op, call.node, tensors, call.state, call.attributes}, traits, steps);
  }
}

}  // namespace

extern const OpDef matmul_def;
const OpDef matmul_def{.name = "matmul",
                       .family = OpFamily::product,
                       .operands = kOperands,
                       .results = kFloatY,
                       .push_bytes = sizeof(Push),
                       .shaders = kShaders,
                       .infer = infer,
                       .cost = cost,
                       .reference = reference,
                       .lower = lower,
                       .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor matmul(Site site, TensorRef x, TensorRef w, TensorRef residual) {
  return record(site, ops::matmul_def, {x, w, residual});
}

}  // namespace reprise
