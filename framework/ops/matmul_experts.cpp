#include "reprise/ops/matmul_experts.h"

#include <algorithm>
#include <limits>
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
                                 {"ids", Access::read, accepts({DType::i32})},
                                 {"cells", Access::read, accepts({DType::i32}), true},
                                 {"missing", Access::read, accepts({DType::f32}), true}};
constexpr std::size_t kResult = std::size(kOperands);
constexpr auto kShaders =
    joined(kFormatShaders<"matmul_experts.">, kFormatShaders<"matmul_experts.lanes_">,
           kFormatShaders<"matmul_experts.gpu_">);

// Mirrors the push block of shaders/include/experts.glsl.
struct Push {
  std::array<std::uint32_t, 4> shape;  // of the products
  View x;
  View w;
  std::uint32_t k;
  std::uint32_t experts;
  std::uint32_t all_cells;
  std::uint32_t first_cell;
  std::uint32_t part_cells;
  std::uint32_t given;
  std::array<std::uint32_t, 4> offsets;  // of ids, cells, missing and y
  std::uint32_t y_row;
};

Outputs infer(const OpCall& call) {
  require_rank(call, 0, 3);
  require_rank(call, 1, 3);
  require_rank(call, 2, 2);
  const Shape& x = call.inputs[0].shape();
  const Shape& w = call.inputs[1].shape();
  const Shape& ids = call.inputs[2].shape();
  require_equal_columns(call, 0, 1);
  if (x.back() == 0) {
    throw_invalid_argument("matmul_experts needs at least 1 column, but ", describe(call, 0),
                           " has (0).");
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!w.fixed() || w.dim(0) < 1 || w.dim(0) > kMost || w.dim(1) < 1) {
    throw_invalid_argument(
        "matmul_experts needs a fixed number of 1 to 2^31 - 1 cells of at least 1 row, but got ",
        describe(call, 1), ".");
  }
  require_pair(x.dim(0) == ids.dim(0) && (x.dim(1) == ids.dim(1) || x.dim(1) == 1), call,
               "a row of x for each id, or one for all ids of a row", 0, 2);
  if (ids.dim(1) < 1) {
    throw_invalid_argument("matmul_experts needs at least 1 expert per row, but ",
                           describe(call, 2), " has (0).");
  }
  if (call.inputs[3]) {
    require_rank(call, 3, 1);
  }
  const TensorSpec y{{x.extent(0), ids.dim(1), w.dim(1)}, DType::f32};
  if (call.inputs[4] && !(call.inputs[4].shape() == y.shape)) {
    throw_invalid_argument("matmul_experts needs missing of the shape of its result ", to_string(y),
                           ", but got ", describe(call, 4), ".");
  }
  return y;
}

Cost cost(const BoundCall& call) {
  const BoundTensor& w = call.tensors[1];
  const auto elements = static_cast<std::uint64_t>(w.shape().elements() / w.shape().dim(0));
  const auto products = static_cast<std::uint64_t>(call.tensors[2].shape().elements());
  Cost cost = streaming_cost(call, 2 * products * elements);
  // Of the weights, at most what is picked.
  const std::uint64_t unused = static_cast<std::uint64_t>(w.shape().dim(0)) -
                               std::min(static_cast<std::uint64_t>(w.shape().dim(0)), products);
  cost.read_bytes -= std::min(cost.read_bytes, unused * bytes_of(w.dtype(), elements));
  return cost;
}

/// Where the weights of expert `id` lie; -1: it is not there.
std::int64_t cell_of(const HostCall& call, std::int64_t id) {
  const std::int64_t all = call.tensors[1].shape().dim(0);
  const HostTensor& cells = call.tensors[3];
  if (id < 0 || id >= (cells ? cells.shape().dim(0) : all)) {
    return -1;
  }
  const std::int64_t cell = cells ? cells.load_integer(id) : id;
  return cell < all ? cell : -1;
}

void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& w = call.tensors[1];
  const HostTensor& ids = call.tensors[2];
  const HostTensor& missing = call.tensors[4];
  const HostTensor& y = call.tensors[kResult];
  const std::int64_t used = ids.shape().dim(1);
  const std::int64_t m = w.shape().dim(1);
  std::vector<double> row(static_cast<std::size_t>(x.shape().back()));
  std::vector<double> column(row.size());
  for (std::int64_t product = 0; product < x.shape().dim(0) * used; ++product) {
    const std::int64_t cell = cell_of(call, ids.load_integer(product));
    float* to = elements_of<float>(y) + product * m;
    if (cell < 0) {
      if (missing) {
        std::copy_n(elements_of<const float>(missing) + product * m, m, to);
      } else {
        std::fill_n(to, m, 0.0F);
      }
      continue;
    }
    load_row(x, x.row(0, product / used, x.shape().dim(1) == 1 ? 0 : product % used), row);
    for (std::int64_t i = 0; i < m; ++i) {
      load_row(w, w.row(0, cell, i), column);
      to[i] = static_cast<float>(dot(row, column));
    }
  }
}

/// Its indices are a row, an expert of it and an element; as those of a batch of single rows.
View of_single_rows(const View& view) {
  return {view.offset, {view.strides[1], view.strides[2], 0, view.strides[3]}};
}

Dispatch dispatch_of(const BoundCall& call, const Shape& products, const View& x, const View& w,
                     const DeviceTraits& traits) {
  constexpr std::int64_t kMaxMatrices = 65535;  // along one axis of a grid
  const std::int64_t k = call.tensors[0].shape().back();
  const DType weights = call.tensors[1].dtype();
  if (traits.kernels == KernelFamily::gpu) {
    return gpu_vectors(shader_for(call.op, weights, "gpu_"), products, weights, k,
                       wide_products(weights, k, x, w), traits);
  }
  if (traits.kernels == KernelFamily::lanes && lanes_can(call, x, w) &&
      products.dim(0) * products.dim(1) <= kMaxMatrices) {
    require_loop_limit(call, traits, k / 4, k);
    return lanes_matmul(call, products);
  }
  return rows_dispatch(call, products, weights, traits);
}

/// Of all weights, or a part of them whose first cell is `first_cell`.
void dispatch(const BoundCall& call, std::int64_t first_cell, const Push& whole,
              const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& w = call.tensors[1];
  const BoundTensor& y = call.tensors[kResult];
  const Shape products({y.shape().extent(0), y.shape().dim(1), 1, y.shape().dim(2)});
  Push push = whole;
  push.shape = shape_words(products);
  push.x = of_single_rows(view_of(call.tensors[0], traits));
  push.w = view_of(w, traits);
  push.first_cell = word(first_cell);
  push.part_cells = word(w.shape().dim(0));
  push.offsets = offsets_of(call.tensors.last<4>(), traits);
  indexable_elements(y);
  const Dispatch chosen = dispatch_of(call, products, push.x, push.w, traits);
  steps.dispatch(call, traits, chosen.kernel, chosen.groups, push);
}

/// The part of y, or of what it takes where an expert is not there, that has the columns of a part
/// of the weights.
Box columns_of(const Box& part, const BoundTensor& tensor) {
  Box box(tensor.shape());
  box.first[3] = part.first[2];
  box.extent[3] = part.extent[2];
  return box;
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& w = call.tensors[1];
  const BoundTensor& cells = call.tensors[3];
  const BoundTensor& missing = call.tensors[4];
  const BoundTensor& y = call.tensors[kResult];
  Push push{};
  push.k = word(w.shape().back());
  push.all_cells = word(w.shape().dim(0));
  push.experts = cells ? word(cells.shape().dim(0)) : push.all_cells;
  push.given = (cells ? 1U : 0U) | (missing ? 2U : 0U);
  push.y_row = word(y.shape().back());
  if (fits_one_binding(w, traits)) {
    dispatch(call, 0, push, traits, steps);
    return;
  }
  // Whole cells, or rows of single ones that are too large. Parts write different products, but
  // bind all of y: barriers order them.
  for (const Box& part : boxes_that_fit(w, traits, 1)) {
    const BoxedTensor w_part(w, part);
    const bool whole_rows = part.extent[2] == w.shape().dim(1);
    const BoxedTensor y_part(y, columns_of(part, y));
    const BoxedTensor missing_part(missing ? missing : y, columns_of(part, y));
    const BoundTensor tensors[] = {call.tensors[0],
                                   w_part.bound,
                                   call.tensors[2],
                                   cells,
                                   whole_rows || !missing ? missing : missing_part.bound,
                                   whole_rows ? y : y_part.bound};
    dispatch({call.op, call.node, tensors, call.state, call.attributes}, part.first[1], push,
             traits, steps);
  }
}

}  // namespace

extern const OpDef matmul_experts_def;
const OpDef matmul_experts_def{.name = "matmul_experts",
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

Tensor matmul_experts(Site site, TensorRef x, TensorRef w, TensorRef ids, TensorRef cells,
                      TensorRef missing) {
  return record(site, ops::matmul_experts_def, {x, w, ids, cells, missing});
}

}  // namespace reprise
