#include "reprise/ops/attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "framework/ops/gpu_groups.h"
#include "framework/ops/host_rows.h"
#include "framework/ops/schema.h"
#include "reprise/core/step.h"

namespace reprise::ops {
namespace {

// What is recorded: the mask becomes an operand.
struct Form {
  Param<std::int32_t> kv_len;
  Param<float> scale;
  bool causal = true;
};

constexpr DTypeSet kFloats = accepts({DType::f32, DType::f16});
constexpr Operand kOperands[] = {{"q", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"k", Access::read, kFloats, false, Layout::rows},
                                 {"v", Access::read, kFloats, false, Layout::rows},
                                 {"mask", Access::read, kFloats, true, Layout::rows}};
constexpr Operand kResults[] = {{"y", Access::write}};
constexpr Attribute kAttributes[] = {{"kv_len", AttributeType::param_i32, offsetof(Form, kv_len)},
                                     {"scale", AttributeType::param_f32, offsetof(Form, scale)},
                                     {"causal", AttributeType::boolean, offsetof(Form, causal)}};
// Index: bit 0 for f16 keys and values, bit 1 for an f16 mask, then the family.
constexpr std::string_view kShaders[] = {"attention.f32",
                                         "attention.f16",
                                         "attention.f32_mask16",
                                         "attention.f16_mask16",
                                         "attention.gpu_f32",
                                         "attention.gpu_f16",
                                         "attention.gpu_f32_mask16",
                                         "attention.gpu_f16_mask16",
                                         "attention.lanes_f32",
                                         "attention.lanes_f16",
                                         "attention.lanes_f32_mask16",
                                         "attention.lanes_f16_mask16"};
constexpr std::size_t kGpuShader = 4;
constexpr std::size_t kLanesShader = 8;

// Mirrors the push block of shaders/attention.comp.
struct Push {
  View q;
  View k;
  View v;
  std::uint32_t mask_offset;
  std::uint32_t mask_stride;
  std::uint32_t mask_columns;
  Param<std::int32_t> rows;
  std::uint32_t heads;
  std::uint32_t share;  // heads per kv head
  std::uint32_t dim;
  std::uint32_t value_dim;
  std::uint32_t capacity;
  Param<std::int32_t> kv_len;
  Param<float> scale;   // value: what 0 in the state stands for, or the constant
  std::uint32_t flags;  // bit 0: causal, bit 1: masked
};

float score_scale(float scale, const Shape& q) {
  return scale == 0 ? static_cast<float>(1 / std::sqrt(static_cast<double>(q.back()))) : scale;
}

Outputs infer(const OpCall& call) {
  for (std::size_t i = 0; i < 3; ++i) {
    require_rank(call, i, 3);
  }
  const Shape& q = call.inputs[0].shape();
  const Shape& k = call.inputs[1].shape();
  const Shape& v = call.inputs[2].shape();
  require_equal_columns(call, 0, 1);
  require_pair(k.dim(0) == v.dim(0) && k.dim(1) == v.dim(1), call,
               "k and v with equal capacity and heads", 1, 2);
  require_pair(call.inputs[1].dtype() == call.inputs[2].dtype(), call, "k and v of one dtype", 1,
               2);
  if (k.elements() == 0 || v.elements() == 0) {
    invalid("attention needs keys and values with elements, but got " + describe(call, 1) +
            " and " + describe(call, 2) + ".");
  }
  require_pair(q.dim(1) % k.dim(1) == 0, call, "heads of q that are a multiple of those of k", 0,
               1);
  const TensorRef& mask = call.inputs[3];
  if (mask) {
    require_rank(call, 3, 2);
    require_pair(mask.shape().dim(0) == q.dim(0) && mask.shape().back() > 0, call,
                 "a mask [rows, keys] with a row for each of q", 0, 3);
  }
  return TensorSpec{q.with_back(v.back()), DType::f32};
}

Cost cost(const BoundCall& call) {
  const Shape& q = call.tensors[0].shape();
  const Shape& v = call.tensors[2].shape();
  const std::int64_t pairs = q.dim(0) * q.dim(1) * v.dim(0);
  return streaming_cost(call, 2 * static_cast<std::uint64_t>(pairs * (q.back() + v.back())));
}

void reference(const HostCall& call) {
  const Form& form = call.as<Form>();
  const HostTensor& q = call.tensors[0];
  const HostTensor& k = call.tensors[1];
  const HostTensor& v = call.tensors[2];
  const HostTensor& mask = call.tensors[3];
  const HostTensor& y = call.tensors[4];
  const std::int64_t rows = q.shape().dim(0);
  const std::int64_t heads = q.shape().dim(1);
  const std::int64_t share = heads / k.shape().dim(1);
  const std::int64_t used = std::clamp<std::int64_t>(call.value(form.kv_len), 0, k.shape().dim(0));
  const auto scale = static_cast<double>(score_scale(call.value(form.scale), q.shape()));
  const auto dim = static_cast<std::size_t>(q.shape().back());
  const auto value_dim = static_cast<std::size_t>(v.shape().back());
  std::vector<double> query(dim);
  std::vector<double> sum(value_dim);
  std::vector<double> scores(static_cast<std::size_t>(used));
  std::vector<double> keys(scores.size() * dim);
  std::vector<double> values(scores.size() * value_dim);
  for (std::int64_t head = 0; head < heads; ++head) {
    if (head % share == 0) {
      for (std::size_t j = 0; j < scores.size(); ++j) {
        const auto key = static_cast<std::int64_t>(j);
        load_row(k, k.row(0, key, head / share), std::span(keys).subspan(j * dim, dim));
        load_row(v, v.row(0, key, head / share),
                 std::span(values).subspan(j * value_dim, value_dim));
      }
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t seen =
          form.causal ? std::clamp<std::int64_t>(used - rows + row + 1, 0, used) : used;
      seen = mask ? std::min(seen, mask.shape().back()) : seen;
      load_row(q, q.row(0, row, head), query);
      double best = -std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < static_cast<std::size_t>(seen); ++j) {
        scores[j] = scale * dot(query, std::span(keys).subspan(j * dim, dim));
        if (mask) {
          scores[j] += mask.load(mask.row(0, 0, row) + static_cast<std::int64_t>(j));
        }
        best = std::max(best, scores[j]);
      }
      std::fill(sum.begin(), sum.end(), 0.0);
      double total = 0;
      for (std::size_t j = 0; j < static_cast<std::size_t>(seen); ++j) {
        if (std::isinf(scores[j]) && scores[j] < 0) {
          continue;
        }
        const double weight = std::exp(scores[j] - best);
        total += weight;
        for (std::size_t d = 0; d < value_dim; ++d) {
          sum[d] += weight * values[j * value_dim + d];
        }
      }
      const std::int64_t to = y.row(0, row, head);
      for (std::size_t d = 0; d < value_dim; ++d) {
        y.store(to + static_cast<std::int64_t>(d), total == 0 ? 0.0 : sum[d] / total);
      }
    }
  }
}

// Values one invocation accumulates, by fours. Smaller blocks recompute the scores but give a GPU
// enough invocations when rows are few; the result does not depend on it.
std::int64_t block_of(std::int64_t row_heads, std::int64_t value_dim, const DeviceTraits& traits) {
  constexpr std::int64_t kMaxBlock = 128;
  constexpr std::int64_t kMinBlock = 16;
  constexpr std::int64_t kEnoughInvocations = 4096;
  std::int64_t block = std::min(value_dim, kMaxBlock);
  while (!traits.cpu_type && block > kMinBlock &&
         row_heads * ((value_dim + block - 1) / block) < kEnoughInvocations) {
    block = (block + 1) / 2;
  }
  return (block + 3) / 4 * 4;
}

// Whether a workgroup shares the keys of a row, instead of one invocation reading all of them. GPUs
// want it, for rows that fit into shared memory; software drivers have to where an invocation may
// need more than kMaxTurns.
bool shares_keys(const BoundCall& call, std::int64_t block, const DeviceTraits& traits) {
  constexpr std::int64_t kMaxDim = 512;
  const Shape& k = call.tensors[1].shape();
  const bool fits = std::max(k.back(), call.tensors[2].shape().back()) <= kMaxDim;
  if (traits.kernels == KernelFamily::gpu) {
    return fits;
  }
  const std::int64_t turns = k.back() / 4 + 5 + block / 2;  // per key
  if (!traits.cpu_type || turns <= kMaxTurns / k.dim(0)) {
    return false;
  }
  if (traits.kernels == KernelFamily::portable || !fits) {
    throw Error(ErrorCode::unsupported,
                "The portable attention kernel would need (" + std::to_string(turns) + " x " +
                    std::to_string(k.dim(0)) + ") turns of its loops for " +
                    std::to_string(k.dim(0)) + " keys, but this software driver runs at most " +
                    std::to_string(kMaxTurns) + ".");
  }
  return true;
}

// One workgroup per head and up to 4 rows: they share the keys and values that are read.
Dispatch gpu_dispatch(const BoundCall& call, const Push& push, std::size_t variant) {
  constexpr std::int64_t kMaxRows = 4;
  constexpr std::uint32_t kInvocations = 256;
  const Shape& q = call.tensors[0].shape();
  const std::uint32_t unit = call.tensors[1].dtype() == DType::f16 ? 8 : 4;  // 16 bytes of a key
  const bool wide = push.dim % unit == 0 && rows_begin_at(push.k, unit) &&
                    push.value_dim % 4 == 0 && rows_begin_at(push.v, 4);
  const std::uint32_t rows = q.dim(0) < kMaxRows ? 1 : kMaxRows;
  const std::uint32_t fours = (push.dim + unit - 1) / unit * (unit / 4);
  return {{kShaders[kGpuShader + variant], {kInvocations, rows, fours, wide ? 1U : 0U}, 4},
          grid_of(q, (q.dim(0) + rows - 1) / rows * q.dim(1), rows)};
}

// Queries and sums of an invocation of the lanes kernel: what the nearest cache holds of 8 of them.
constexpr std::uint32_t kMaxLanesElements = 512;

/// Rows are whole texels, one row of queries and sums is not too long, and neither are the keys,
/// one turn each.
bool lanes_can(const BoundCall& call, const Push& push) {
  const std::uint32_t unit = call.tensors[1].dtype() == DType::f16 ? 8 : 4;
  return push.capacity <= kMaxTurns && push.dim % unit == 0 && push.value_dim % unit == 0 &&
         push.dim + push.value_dim <= kMaxLanesElements && rows_begin_at(push.q, 4) &&
         rows_begin_at(push.k, unit) && rows_begin_at(push.v, unit);
}

// An invocation per head and up to 4 rows, which share the texels of keys and values.
Dispatch lanes_dispatch(const Shape& q, const Push& push, std::size_t variant) {
  constexpr std::uint32_t kLanes = 8;
  constexpr std::uint32_t kMaxRows = 4;
  std::uint32_t rows = std::bit_ceil(std::min(word(q.dim(0)), kMaxRows));
  while (rows > 1 && rows * (push.dim + push.value_dim) > kMaxLanesElements) {
    rows /= 2;
  }
  const std::uint64_t tiles = (word(q.dim(0)) + rows - 1) / rows;
  return {{kShaders[kLanesShader + variant], {kLanes, rows, push.dim / 4, push.value_dim / 4}, 4},
          groups_for({q, tiles * push.heads, rows}, kLanes)};
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const Form& form = call.as<Form>();
  const BoundTensor& q = call.tensors[0];
  const BoundTensor& k = call.tensors[1];
  const BoundTensor& v = call.tensors[2];
  const BoundTensor& mask = call.tensors[3];
  const View mask_view = mask ? view_of(mask, traits) : View{};
  const Shape& shape = q.shape();
  const std::int64_t value_dim = v.shape().back();
  Param<float> scale = form.scale;
  scale.value = score_scale(scale.value, shape);
  const Push push{.q = view_of(q, traits),
                  .k = view_of(k, traits),
                  .v = view_of(v, traits),
                  .mask_offset = mask_view.offset,
                  .mask_stride = mask_view.strides[2],
                  .mask_columns = mask ? word(mask.shape().back()) : 0,
                  .rows = rows_of(shape),
                  .heads = word(shape.dim(1)),
                  .share = word(shape.dim(1) / k.shape().dim(1)),
                  .dim = word(shape.back()),
                  .value_dim = word(value_dim),
                  .capacity = word(k.shape().dim(0)),
                  .kv_len = form.kv_len,
                  .scale = scale,
                  .flags = (form.causal ? 1U : 0U) | (mask ? 2U : 0U)};
  word(call.tensors[4].shape().elements());
  const std::size_t variant =
      (k.dtype() == DType::f16 ? 1U : 0U) + (mask && mask.dtype() == DType::f16 ? 2U : 0U);
  const std::int64_t row_heads = shape.dim(0) * shape.dim(1);
  const std::int64_t block = block_of(row_heads, value_dim, traits);
  if (traits.kernels == KernelFamily::lanes && lanes_can(call, push)) {
    const Dispatch chosen = lanes_dispatch(shape, push, variant);
    steps.dispatch(call, traits, chosen.kernel, chosen.groups, push);
    return;
  }
  if (shares_keys(call, block, traits)) {
    const Dispatch chosen = gpu_dispatch(call, push, variant);
    steps.dispatch(call, traits, chosen.kernel, chosen.groups, push);
    return;
  }
  const std::int64_t invocations = row_heads * ((value_dim + block - 1) / block);
  steps.dispatch(
      call, traits, {kShaders[variant], {traits.workgroup_size, word(block)}, 2},
      groups_for({shape, static_cast<std::uint64_t>(invocations)}, traits.workgroup_size), push);
}

}  // namespace

extern const OpDef attention_def;
const OpDef attention_def{.name = "attention",
                          .family = OpFamily::attention,
                          .operands = kOperands,
                          .results = kResults,
                          .attributes = kAttributes,
                          .push_bytes = sizeof(Push),
                          .shaders = kShaders,
                          .infer = infer,
                          .cost = cost,
                          .reference = reference,
                          .lower = lower,
                          .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor attention(Site site, TensorRef q, TensorRef k, TensorRef v, AttentionAttributes a) {
  const ops::Form form{a.kv_len, a.scale, a.causal};
  return record(site, ops::attention_def, {q, k, v, TensorRef(a.mask)}, form);
}

}  // namespace reprise
