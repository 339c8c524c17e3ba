#include "reprise/ops/attention.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "framework/core/record.h"
#include "framework/ops/attention_form.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "framework/ops/scores.h"

namespace reprise::ops {
namespace {

constexpr DTypeSet kFloats = accepts({DType::f32, DType::f16});
constexpr DTypeSet kCaches = accepts({DType::f32, DType::f16, DType::q8_0});
constexpr Operand kOperands[] = {{"q", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"k", Access::read, kCaches, false, Layout::rows},
                                 {"v", Access::read, kCaches, false, Layout::rows},
                                 {"mask", Access::read, kFloats, true, Layout::rows},
                                 {"sinks", Access::read, accepts({DType::f32}), true}};
constexpr Attribute kAttributes[] = {
    {"kv_len", AttributeType::param_i32, offsetof(AttentionForm, kv_len)},
    {"past", AttributeType::param_i32, offsetof(AttentionForm, past)},
    {"scale", AttributeType::param_f32, offsetof(AttentionForm, scale)},
    {"softcap", AttributeType::param_f32, offsetof(AttentionForm, softcap)},
    {"max_bias", AttributeType::param_f32, offsetof(AttentionForm, max_bias)},
    {"window", AttributeType::param_i32, offsetof(AttentionForm, window)},
    {"causal", AttributeType::boolean, offsetof(AttentionForm, causal)},
    {"has_past", AttributeType::boolean, offsetof(AttentionForm, has_past)}};
constexpr UsedRows kUsedRows[] = {{"kv_len", 1}, {"past", 1, 0}};
// By family, then by cache, then by mask.
constexpr std::string_view kShaders[] = {"attention.f32",       "attention.f32_mask16",
                                         "attention.f16",       "attention.f16_mask16",
                                         "attention.q8_0",      "attention.q8_0_mask16",
                                         "attention.gpu_f32",   "attention.gpu_f32_mask16",
                                         "attention.gpu_f16",   "attention.gpu_f16_mask16",
                                         "attention.gpu_q8_0",  "attention.gpu_q8_0_mask16",
                                         "attention.lanes_f32", "attention.lanes_f32_mask16",
                                         "attention.lanes_f16", "attention.lanes_f16_mask16"};
constexpr std::size_t kGpuShader = 6;
constexpr std::size_t kLanesShader = 12;

// Mirrors the push block of shaders/include/attention.glsl.
struct Heads {
  explicit Heads(const View& view)
      : offset(view.offset), row(view.strides[1]), head(view.strides[2]) {}
  std::uint32_t offset, row, head;
};
struct Push {
  Heads q;
  Heads k;
  Heads v;
  std::uint32_t mask_offset;
  std::uint32_t mask_stride;
  std::uint32_t mask_columns;
  Param<std::int32_t> rows;
  std::uint32_t heads;
  std::uint32_t share;  // heads per kv head
  std::uint32_t dim;
  std::uint32_t value_dim;
  Param<std::int32_t> capacity;
  Param<std::int32_t> kv_len;  // or past
  Param<float> scale;          // value: what 0 in the state stands for, or the constant
  Param<float> softcap;
  Param<float> max_bias;
  Param<std::int32_t> window;
  std::uint32_t sinks_offset;
  std::uint32_t flags;  // bit 0: causal, bit 1: sinks, bit 2: past
};

void require_past(const OpCall& call, const AttentionForm& form) {
  const auto text = [](const Param<std::int32_t>& given) {
    return given.dynamic() ? "a field of the state" : std::to_string(given.value);
  };
  if (form.kv_len.dynamic() || form.kv_len.value != AttentionAttributes::kAllKeys) {
    throw_invalid_argument("attention takes kv_len or past, but got (", text(form.kv_len),
                           ") and (", text(form.past), ") for ", describe(call, 0), ".");
  }
  if (form.past.dynamic()) {
    return;
  }
  const Shape& q = call.inputs[0].shape();
  const Shape& k = call.inputs[1].shape();
  const std::int64_t max = k.dim(0) - (q.fixed() ? q.dim(0) : 0);
  if (form.past.value < 0 || form.past.value > max) {
    throw_invalid_argument("attention needs a past from 0 to (", max,
                           "), where the keys of all rows of q have room, but got (",
                           text(form.past), ") for ", describe(call, 0), " and ", describe(call, 1),
                           ".");
  }
}

void require_bound(const OpCall& call, std::string_view what, const Param<float>& given) {
  if (!given.dynamic() && (!(given.value >= 0) || !std::isfinite(given.value))) {
    throw_invalid_argument("attention needs a finite ", what, " of at least 0, but got (",
                           given.value, ") for ", describe(call, 0), ".");
  }
}

Outputs infer(const OpCall& call) {
  const AttentionForm& form = call.as<AttentionForm>();
  require_bound(call, "softcap", form.softcap);
  require_bound(call, "max_bias", form.max_bias);
  if (!form.window.dynamic() && form.window.value < 0) {
    throw_invalid_argument("attention needs a window of at least 0, but got (", form.window.value,
                           ") for ", describe(call, 0), ".");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    require_rank(call, i, 3);
  }
  const Shape& q = call.inputs[0].shape();
  const Shape& k = call.inputs[1].shape();
  const Shape& v = call.inputs[2].shape();
  require_equal_columns(call, 0, 1);
  if (form.has_past) {
    require_past(call, form);
  }
  require_pair(k.dim(0) == v.dim(0) && k.dim(1) == v.dim(1), call,
               "k and v with equal capacity and heads", 1, 2);
  require_pair(k.extent_word() == v.extent_word(), call, "k and v of one extent of the state", 1,
               2);
  require_pair(call.inputs[1].dtype() == call.inputs[2].dtype(), call, "k and v of one dtype", 1,
               2);
  if (k.elements() == 0 || v.elements() == 0) {
    throw_invalid_argument("attention needs keys and values with elements, but got ",
                           describe(call, 1), " and ", describe(call, 2), ".");
  }
  require_pair(q.dim(1) % k.dim(1) == 0, call, "heads of q that are a multiple of those of k", 0,
               1);
  const TensorRef& mask = call.inputs[3];
  if (mask) {
    require_rank(call, 3, 2);
    require_pair(mask.shape().dim(0) == q.dim(0) && mask.shape().back() > 0, call,
                 "a mask [rows, keys] with a row for each of q", 0, 3);
  }
  if (call.inputs[4]) {
    require_rank(call, 4, 1);
    require_pair(call.inputs[4].shape().back() == q.dim(1) && call.inputs[4].shape().fixed(), call,
                 "sinks [heads], one for each head of q", 0, 4);
  }
  return TensorSpec{q.with_back(v.back()), DType::f32};
}

Cost cost(const BoundCall& call) {
  const Shape& q = call.tensors[0].shape();
  const Shape& v = call.tensors[2].shape();
  const std::int64_t pairs = q.dim(0) * q.dim(1) * v.dim(0);
  return streaming_cost(call, 2 * static_cast<std::uint64_t>(pairs * (q.back() + v.back())));
}

// Values one invocation accumulates, by fours. Smaller blocks recompute the scores but give a GPU
// enough invocations when rows are few; the result does not depend on it.
std::int64_t block_of(std::int64_t row_heads, std::int64_t value_dim, DType cache,
                      const DeviceTraits& traits) {
  // Drivers unroll a block; more code that decodes q8_0 takes some of them half a minute.
  const std::int64_t max = cache == DType::q8_0 ? 32 : 128;
  constexpr std::int64_t kMinBlock = 16;
  constexpr std::int64_t kEnoughInvocations = 4096;
  std::int64_t block = std::min(value_dim, max);
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
    throw_error(ErrorCode::unsupported, "The portable attention kernel would need (", turns, " x ",
                k.dim(0), ") turns of its loops for ", k.dim(0),
                " keys, but this software driver runs at most ", kMaxTurns, ".");
  }
  return true;
}

// What kernels do to scores: bit 0 for a softcap, bit 1 for ALiBi, bit 2 for a mask.
std::uint32_t features_of(const BoundCall& call) {
  const auto& form = call.as<AttentionForm>();
  const auto used = [](const Param<float>& number) { return number.dynamic() || number.value > 0; };
  return (used(form.softcap) ? 1U : 0U) | (used(form.max_bias) ? 2U : 0U) |
         (call.tensors[3] ? 4U : 0U);
}

// Elements that a kernel reads of a key at once: 16 bytes, or 4 of a block.
std::uint32_t unit_of(DType cache) { return cache == DType::f16 ? 8 : 4; }

struct Views {
  View q, k, v;
};

// Whether units of keys and fours of values can be read as such.
bool wide_units(const BoundCall& call, const Push& push, const Views& views) {
  const std::uint32_t unit = unit_of(call.tensors[1].dtype());
  return push.dim % unit == 0 && rows_begin_at(views.k, unit) && push.value_dim % 4 == 0 &&
         rows_begin_at(views.v, 4);
}

constexpr std::uint32_t kInvocations = 256;  // of a workgroup of the gpu kernel

/// Turns of all loops of an invocation of the gpu kernel, each with the one that ends it; loops
/// over rows and parts of a unit are unrolled. A tile of 256 / rows keys takes its own turn; a turn
/// for each of the 4 / rows keys that 4 invocations share, and in it one for each 4th unit; one for
/// each subgroup; and one for each of the fours of keys that an invocation adds up, with 5 in it.
/// Besides, each row loads its query, and adds up subgroups and what invocations have of the same
/// values.
std::int64_t gpu_turns(const Push& push, std::int64_t keys, std::int64_t rows, std::int64_t units,
                       const DeviceTraits& traits) {
  const auto over = [](std::int64_t count, std::int64_t each) { return (count + each - 1) / each; };
  const std::int64_t tile_keys = kInvocations / rows;
  const std::int64_t scores = over(4 * tile_keys, kInvocations) * (over(units, 4) + 2) + 1;
  const std::int64_t subgroups = kInvocations / std::max(traits.subgroup_size, 1U) + 1;
  const std::int64_t stride = kInvocations / over(push.value_dim, 4);
  const std::int64_t values = over(tile_keys / 4, stride) * 6 + 1;
  return over(keys, tile_keys) * (1 + scores + subgroups + values) +
         rows * (subgroups + stride + 6 + over(units, 32) + 1);
}

// One workgroup per head and up to 4 rows: they share the keys and values that are read.
Dispatch gpu_dispatch(const BoundCall& call, const DeviceTraits& traits, const Push& push,
                      bool wide, std::size_t variant) {
  constexpr std::int64_t kMaxRows = 4;
  const Shape& q = call.tensors[0].shape();
  const std::uint32_t unit = unit_of(call.tensors[1].dtype());
  const std::uint32_t rows = q.dim(0) < kMaxRows ? 1 : kMaxRows;
  const std::uint32_t units = (push.dim + unit - 1) / unit;
  const std::uint32_t fours = units * (unit / 4);
  const std::int64_t keys = call.tensors[1].shape().dim(0);
  require_loop_limit(call, traits, gpu_turns(push, keys, rows, units, traits), keys);
  return {{kShaders[kGpuShader + variant],
           {kInvocations, rows, fours, (wide ? 1U : 0U) | features_of(call) << 1U},
           4},
          grid_of(q, (q.dim(0) + rows - 1) / rows * q.dim(1), rows)};
}

// Queries and sums of an invocation of the lanes kernel: what the nearest cache holds of 8 of them.
constexpr std::uint32_t kMaxLanesElements = 512;

/// Keys and values are plain, rows are whole texels, one row of queries and sums is not too long,
/// and neither are the keys, one turn each.
bool lanes_can(const BoundCall& call, const Push& push, const Views& views) {
  const DType cache = call.tensors[1].dtype();
  const std::uint32_t unit = unit_of(cache);
  return cache != DType::q8_0 && call.tensors[1].shape().dim(0) <= kMaxTurns &&
         push.dim % unit == 0 && push.value_dim % unit == 0 &&
         push.dim + push.value_dim <= kMaxLanesElements && rows_begin_at(views.q, 4) &&
         rows_begin_at(views.k, unit) && rows_begin_at(views.v, unit);
}

// An invocation per head and up to 4 rows, which share the texels of keys and values.
Dispatch lanes_dispatch(const BoundCall& call, const Push& push, std::size_t variant) {
  const Shape& q = call.tensors[0].shape();
  constexpr std::uint32_t kLanes = 8;
  constexpr std::uint32_t kMaxRows = 4;
  std::uint32_t rows = std::bit_ceil(std::min(word(q.dim(0)), kMaxRows));
  while (rows > 1 && rows * (push.dim + push.value_dim) > kMaxLanesElements) {
    rows /= 2;
  }
  const std::uint64_t tiles = (word(q.dim(0)) + rows - 1) / rows;
  return {{kShaders[kLanesShader + variant],
           {kLanes, rows | features_of(call) << 3U, push.dim / 4, push.value_dim / 4},
           4},
          groups_for({q, tiles * push.heads, rows}, kLanes)};
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const AttentionForm& form = call.as<AttentionForm>();
  const BoundTensor& q = call.tensors[0];
  const BoundTensor& k = call.tensors[1];
  const BoundTensor& v = call.tensors[2];
  const BoundTensor& mask = call.tensors[3];
  const BoundTensor& sinks = call.tensors[4];
  const Views views{view_of(q, traits), view_of(k, traits), view_of(v, traits)};
  const View mask_view = view_of(mask, traits);
  const Shape& shape = q.shape();
  const std::int64_t value_dim = v.shape().back();
  Param<float> scale = form.scale;
  scale.value = score_scale(scale.value, shape.back());
  const Push push{.q = Heads(views.q),
                  .k = Heads(views.k),
                  .v = Heads(views.v),
                  .mask_offset = mask_view.offset,
                  .mask_stride = mask_view.strides[2],
                  .mask_columns = mask ? word(mask.shape().back()) : 0,
                  .rows = rows_of(shape),
                  .heads = word(shape.dim(1)),
                  .share = word(shape.dim(1) / k.shape().dim(1)),
                  .dim = word(shape.back()),
                  .value_dim = word(value_dim),
                  .capacity = rows_of(k.shape()),
                  .kv_len = form.has_past ? form.past : form.kv_len,
                  .scale = scale,
                  .softcap = form.softcap,
                  .max_bias = form.max_bias,
                  .window = form.window,
                  .sinks_offset = view_of(sinks, traits).offset,
                  .flags = (form.causal ? 1U : 0U) | (sinks ? 2U : 0U) | (form.has_past ? 4U : 0U)};
  for (const BoundTensor* t : {&q, &k, &v, &call.tensors[5]}) {
    indexable_elements(*t);
  }
  const std::size_t cache = k.dtype() == DType::f32 ? 0 : k.dtype() == DType::f16 ? 2 : 4;
  const std::size_t variant = cache + (mask && mask.dtype() == DType::f16 ? 1U : 0U);
  const std::int64_t row_heads = shape.dim(0) * shape.dim(1);
  const std::int64_t block = block_of(row_heads, value_dim, k.dtype(), traits);
  if (traits.kernels == KernelFamily::lanes && lanes_can(call, push, views)) {
    const Dispatch chosen = lanes_dispatch(call, push, variant);
    steps.dispatch(call, traits, chosen.kernel, chosen.groups, push);
    return;
  }
  if (shares_keys(call, block, traits)) {
    const Dispatch chosen =
        gpu_dispatch(call, traits, push, wide_units(call, push, views), variant);
    steps.dispatch(call, traits, chosen.kernel, chosen.groups, push);
    return;
  }
  const std::int64_t invocations = row_heads * ((value_dim + block - 1) / block);
  steps.dispatch(
      call, traits, {kShaders[variant], {traits.workgroup_size, word(block), features_of(call)}, 3},
      groups_for({shape, static_cast<std::uint64_t>(invocations)}, traits.workgroup_size), push);
}

}  // namespace

extern const OpDef attention_def;
const OpDef attention_def{.name = "attention",
                          .family = OpFamily::attention,
                          .operands = kOperands,
                          .results = kFloatY,
                          .attributes = kAttributes,
                          .push_bytes = sizeof(Push),
                          .shaders = kShaders,
                          .infer = infer,
                          .cost = cost,
                          .reference = attention_reference,
                          .lower = lower,
                          .extents = ExtentRule::rows,
                          .used_rows = kUsedRows};

}  // namespace reprise::ops

namespace reprise {

Tensor attention(Site site, TensorRef q, TensorRef k, TensorRef v, AttentionAttributes a) {
  const ops::AttentionForm form{.kv_len = a.kv_len,
                                .past = a.past.value_or(0),
                                .scale = a.scale,
                                .softcap = a.softcap,
                                .max_bias = a.max_bias,
                                .window = a.window,
                                .causal = a.causal,
                                .has_past = a.past.has_value()};
  return record(site, ops::attention_def, {q, k, v, a.mask, a.sinks}, form);
}

}  // namespace reprise
