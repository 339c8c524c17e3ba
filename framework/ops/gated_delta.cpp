#include "reprise/ops/gated_delta.h"

#include <cmath>

#include "framework/core/record.h"
#include "framework/ops/recurrence.h"
#include "framework/ops/scores.h"

namespace reprise::ops {
namespace {

constexpr DTypeSet kFloat = accepts({DType::f32});
constexpr Operand kOperands[] = {{"state", Access::read_write, kFloat},
                                 {"q", Access::read, kFloat, false, Layout::rows},
                                 {"k", Access::read, kFloat, false, Layout::rows},
                                 {"v", Access::read, kFloat, false, Layout::rows},
                                 {"gate", Access::read, kFloat, false, Layout::rows},
                                 {"beta", Access::read, kFloat, false, Layout::rows},
                                 {"ids", Access::read, accepts({DType::i32}), true}};
constexpr std::size_t kIds = 6;
constexpr Attribute kAttributes[] = {
    {"scale", AttributeType::param_f32, offsetof(GatedDeltaAttributes, scale)},
    {"past", AttributeType::param_i32, offsetof(GatedDeltaAttributes, past)}};
constexpr std::string_view kShaders[] = {"gated_delta"};

// Mirrors the push block of shaders/gated_delta.comp.
struct Push {
  RecurrencePush recurrence;
  std::array<std::uint32_t, 3> q_strides;  // sequence, token, head
  std::array<std::uint32_t, 3> k_strides;
  std::array<std::uint32_t, 3> v_strides;
  std::array<std::uint32_t, 2> gate_strides;
  std::array<std::uint32_t, 2> beta_strides;
  std::uint32_t all_tokens;
  std::uint32_t heads;
  std::uint32_t share;  // heads per key head
  std::uint32_t key_dim, value_dim;
  Param<float> scale;  // value: what 0 in the state stands for, or the constant
};

Outputs infer(const OpCall& call) {
  const Shape& state = call.inputs[0].shape();
  const Shape& q = call.inputs[1].shape();
  const Shape& v = call.inputs[3].shape();
  require_rank(call, 0, 4);
  if (v.rank() != 3) {
    require_rank(call, 3, 4);
  }
  const Sequences of(v, 2);
  const std::int64_t heads = v.dim(v.rank() - 2);
  require_tokens(call, 3, 1, 2, of);
  require_pair(q == call.inputs[2].shape(), call, "q and k of one shape", 1, 2);
  require_tokens(call, 3, 4, 1, of);
  require_tokens(call, 3, 5, 1, of);
  require_pair(call.inputs[4].shape().back() == heads, call, "a gate for each head", 3, 4);
  require_pair(call.inputs[5].shape().back() == heads, call, "a beta for each head", 3, 5);
  const std::int64_t key_heads = q.dim(q.rank() - 2);
  require_pair(key_heads > 0 && heads % key_heads == 0, call,
               "heads of v that are a multiple of those of q", 3, 1);
  require_pair(state.dim(1) == heads && state.dim(2) == q.back() && state.back() == v.back(), call,
               "a state [slots, heads, key_dim, value_dim]", 0, 3);
  require_slots(call, 0, 3, kIds, of);
  return TensorSpec{v, DType::f32};
}

Cost cost(const BoundCall& call) {
  const Shape& v = call.tensors[3].shape();
  Cost cost = streaming_cost(
      call, 7 * static_cast<std::uint64_t>(v.elements() * call.tensors[1].shape().back()));
  count_used_slots(call.tensors[0], Sequences(v, 2).sequences, cost);
  return cost;
}

// One value of a head over all tokens of a sequence; `state` has a number for each key element.
void apply(const HostCall& call, std::int64_t sequence, std::int64_t head, std::int64_t column,
           std::span<double> state) {
  const HostTensor& q = call.tensors[1];
  const HostTensor& k = call.tensors[2];
  const HostTensor& v = call.tensors[3];
  const HostTensor& gate = call.tensors[4];
  const HostTensor& beta = call.tensors[5];
  const HostTensor& y = call.tensors[7];
  const Sequences of(v.shape(), 2);
  const std::size_t head_axis = v.shape().rank() - 2;
  const std::int64_t key_head = head / (v.shape().dim(head_axis) / q.shape().dim(head_axis));
  const auto scale = static_cast<double>(
      score_scale(call.value(call.as<GatedDeltaAttributes>().scale), q.shape().back()));
  for (std::int64_t t = 0; t < of.tokens; ++t) {
    const double stays = std::exp(gate.load(gate.row(0, sequence, t) + head));
    const std::int64_t key = k.row(sequence, t, key_head);
    const std::int64_t query = q.row(sequence, t, key_head);
    double known = 0;
    for (std::size_t i = 0; i < state.size(); ++i) {
      state[i] *= stays;
      known += state[i] * k.load(key + static_cast<std::int64_t>(i));
    }
    const double added = beta.load(beta.row(0, sequence, t) + head) *
                         (v.load(v.row(sequence, t, head) + column) - known);
    double sum = 0;
    for (std::size_t i = 0; i < state.size(); ++i) {
      state[i] += added * k.load(key + static_cast<std::int64_t>(i));
      sum += state[i] * q.load(query + static_cast<std::int64_t>(i));
    }
    y.store(y.row(sequence, t, head) + column, scale * sum);
  }
}

void reference(const HostCall& call) {
  const HostTensor& table = call.tensors[0];
  for_each_state(
      call, call.tensors[3], kIds, call.as<GatedDeltaAttributes>().past, table.shape().dim(2),
      [&](std::int64_t slot, std::int64_t head, std::int64_t column, std::int64_t i) {
        return table.row(slot, head, i) + column;
      },
      [&](std::int64_t sequence, std::int64_t head, std::int64_t column, std::span<double> state) {
        apply(call, sequence, head, column, state);
      });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& v = call.tensors[3];
  const Shape& q = call.tensors[1].shape();
  const Shape& state = call.tensors[0].shape();
  const Sequences of(v.shape(), 2);
  const auto& a = call.as<GatedDeltaAttributes>();
  Param<float> scale = a.scale;
  scale.value = score_scale(scale.value, q.back());
  const Push push{.recurrence = {call, traits, v.shape(), 2, kIds, a.past},
                  .q_strides = token_strides<2>(call.tensors[1], traits),
                  .k_strides = token_strides<2>(call.tensors[2], traits),
                  .v_strides = token_strides<2>(v, traits),
                  .gate_strides = token_strides<1>(call.tensors[4], traits),
                  .beta_strides = token_strides<1>(call.tensors[5], traits),
                  .all_tokens = word(of.tokens),
                  .heads = word(state.dim(1)),
                  .share = word(state.dim(1) / q.dim(q.rank() - 2)),
                  .key_dim = word(q.back()),
                  .value_dim = word(state.back()),
                  .scale = scale};
  indexable_elements(call.tensors[7]);
  dispatch_tokens(call, traits, steps, v.shape(), of, state.dim(1) * state.back(), 2 * q.back() + 4,
                  kShaders[0], push);
}

}  // namespace

extern const OpDef gated_delta_def;
const OpDef gated_delta_def{.name = "gated_delta",
                            .family = OpFamily::attention,
                            .operands = kOperands,
                            .results = kFloatY,
                            .attributes = kAttributes,
                            .push_bytes = sizeof(Push),
                            .shaders = kShaders,
                            .infer = infer,
                            .cost = cost,
                            .reference = reference,
                            .lower = lower,
                            .extents = ExtentRule::elements};

}  // namespace reprise::ops

namespace reprise {

Tensor gated_delta(Site site, TensorRef state, const GatedDeltaInputs& in, TensorRef ids,
                   GatedDeltaAttributes attributes) {
  return record(site, ops::gated_delta_def, {state, in.q, in.k, in.v, in.gate, in.beta, ids},
                attributes);
}

}  // namespace reprise
