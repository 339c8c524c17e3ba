#include "reprise/ops/ssm_scan.h"

#include <cmath>

#include "framework/core/record.h"
#include "framework/ops/recurrence.h"

namespace reprise::ops {
namespace {

constexpr DTypeSet kFloat = accepts({DType::f32});
constexpr Operand kOperands[] = {{"state", Access::read_write, kFloat},
                                 {"x", Access::read, kFloat, false, Layout::rows},
                                 {"dt", Access::read, kFloat, false, Layout::rows},
                                 {"a", Access::read, kFloat},
                                 {"b", Access::read, kFloat, false, Layout::rows},
                                 {"c", Access::read, kFloat, false, Layout::rows},
                                 {"ids", Access::read, accepts({DType::i32}), true}};
constexpr std::size_t kIds = 6;
constexpr Attribute kAttributes[] = {
    {"past", AttributeType::param_i32, offsetof(SsmScanAttributes, past)}};
constexpr std::string_view kShaders[] = {"ssm_scan"};

// Mirrors the push block of shaders/ssm_scan.comp.
struct Push {
  RecurrencePush recurrence;
  std::array<std::uint32_t, 3> x_strides;  // sequence, token, head
  std::array<std::uint32_t, 2> dt_strides;
  std::array<std::uint32_t, 3> b_strides;
  std::array<std::uint32_t, 3> c_strides;
  std::uint32_t all_tokens;
  std::uint32_t heads, head_dim;
  std::uint32_t share;  // heads per group
  std::uint32_t state_dim;
  std::uint32_t per_state;  // 1: a differs by element of the state
};

Outputs infer(const OpCall& call) {
  const Shape& state = call.inputs[0].shape();
  const Shape& x = call.inputs[1].shape();
  const Shape& a = call.inputs[3].shape();
  const Shape& b = call.inputs[4].shape();
  require_rank(call, 0, 4);
  require_rank(call, 3, 2);
  if (x.rank() != 3) {
    require_rank(call, 1, 4);
  }
  const Sequences of(x, 2);
  const std::int64_t heads = x.dim(x.rank() - 2);
  require_tokens(call, 1, 2, 1, of);
  require_tokens(call, 1, 4, 2, of);
  require_pair(b == call.inputs[5].shape(), call, "b and c of one shape", 4, 5);
  require_pair(call.inputs[2].shape().back() == heads, call, "a time step for each head", 1, 2);
  require_pair(state.dim(1) == heads && state.dim(2) == x.back(), call,
               "a state [slots, heads, head_dim, state_dim]", 0, 1);
  require_pair(a.fixed() && a.dim(0) == heads && (a.back() == 1 || a.back() == state.back()), call,
               "a [heads, state_dim] or [heads, 1]", 0, 3);
  const std::int64_t groups = b.dim(b.rank() - 2);
  require_pair(groups > 0 && heads % groups == 0, call, "heads that are a multiple of the groups",
               1, 4);
  require_pair(b.back() == state.back(), call, "states of equal length", 0, 4);
  require_slots(call, 0, 1, kIds, of);
  return TensorSpec{x, DType::f32};
}

Cost cost(const BoundCall& call) {
  const Shape& x = call.tensors[1].shape();
  const Shape& state = call.tensors[0].shape();
  Cost cost = streaming_cost(call, 6 * static_cast<std::uint64_t>(x.elements() * state.back()));
  count_used_slots(call.tensors[0], Sequences(x, 2).sequences, cost);
  return cost;
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// One element of a head over all tokens of a sequence.
void scan(const HostCall& call, std::int64_t sequence, std::int64_t head, std::int64_t i,
          std::span<double> state) {
  const HostTensor& x = call.tensors[1];
  const HostTensor& dt = call.tensors[2];
  const HostTensor& a = call.tensors[3];
  const HostTensor& b = call.tensors[4];
  const HostTensor& c = call.tensors[5];
  const HostTensor& y = call.tensors[7];
  const Sequences of(x.shape(), 2);
  const std::int64_t heads = x.shape().dim(x.shape().rank() - 2);
  const std::int64_t group = head / (heads / b.shape().dim(b.shape().rank() - 2));
  for (std::int64_t t = 0; t < of.tokens; ++t) {
    const double step = softplus(dt.load(dt.row(0, sequence, t) + head));
    const double input = step * x.load(x.row(sequence, t, head) + i);
    double sum = 0;
    for (std::size_t n = 0; n < state.size(); ++n) {
      const auto column = static_cast<std::int64_t>(n);
      const std::int64_t of_a = a.shape().back() == 1 ? head : a.row(0, 0, head) + column;
      state[n] = state[n] * std::exp(step * a.load(of_a)) +
                 input * b.load(b.row(sequence, t, group) + column);
      sum += state[n] * c.load(c.row(sequence, t, group) + column);
    }
    y.store(y.row(sequence, t, head) + i, sum);
  }
}

void reference(const HostCall& call) {
  const HostTensor& table = call.tensors[0];
  for_each_state(
      call, call.tensors[1], kIds, call.as<SsmScanAttributes>().past, table.shape().back(),
      [&](std::int64_t slot, std::int64_t head, std::int64_t column, std::int64_t i) {
        return table.row(slot, head, column) + i;
      },
      [&](std::int64_t sequence, std::int64_t head, std::int64_t column, std::span<double> state) {
        scan(call, sequence, head, column, state);
      });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[1];
  const Shape& b = call.tensors[4].shape();
  const Shape& state = call.tensors[0].shape();
  const Sequences of(x.shape(), 2);
  const Push push{
      .recurrence = {call, traits, x.shape(), 2, kIds, call.as<SsmScanAttributes>().past},
      .x_strides = token_strides<2>(x, traits),
      .dt_strides = token_strides<1>(call.tensors[2], traits),
      .b_strides = token_strides<2>(call.tensors[4], traits),
      .c_strides = token_strides<2>(call.tensors[5], traits),
      .all_tokens = word(of.tokens),
      .heads = word(state.dim(1)),
      .head_dim = word(state.dim(2)),
      .share = word(state.dim(1) / b.dim(b.rank() - 2)),
      .state_dim = word(state.back()),
      .per_state = call.tensors[3].shape().back() == 1 ? 0U : 1U};
  indexable_elements(call.tensors[7]);
  dispatch_tokens(call, traits, steps, x.shape(), of, state.dim(1) * state.dim(2),
                  state.back() + 12, kShaders[0], push);
}

}  // namespace

extern const OpDef ssm_scan_def;
const OpDef ssm_scan_def{.name = "ssm_scan",
                         .family = OpFamily::other,
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

Tensor ssm_scan(Site site, TensorRef state, const SsmScanInputs& in, TensorRef ids,
                SsmScanAttributes attributes) {
  return record(site, ops::ssm_scan_def, {state, in.x, in.dt, in.a, in.b, in.c, ids}, attributes);
}

}  // namespace reprise
