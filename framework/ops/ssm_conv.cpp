#include "reprise/ops/ssm_conv.h"

#include <limits>
#include <vector>

#include "framework/core/record.h"
#include "framework/ops/recurrence.h"

namespace reprise::ops {
namespace {

constexpr DTypeSet kFloat = accepts({DType::f32});
constexpr Operand kOperands[] = {{"state", Access::read_write, kFloat},
                                 {"x", Access::read, kFloat, false, Layout::any},
                                 {"w", Access::read, kFloat},
                                 {"bias", Access::read, kFloat, true},
                                 {"ids", Access::read, accepts({DType::i32}), true}};
constexpr std::size_t kIds = 4;
constexpr Attribute kAttributes[] = {
    {"past", AttributeType::param_i32, offsetof(SsmConvAttributes, past)}};
constexpr std::string_view kShaders[] = {"ssm_conv"};

// Mirrors the push block of shaders/ssm_conv.comp.
struct Push {
  RecurrencePush recurrence;
  std::array<std::uint32_t, 3> x_strides;  // sequence, token, channel
  std::uint32_t all_tokens;
  std::uint32_t channels;
  std::uint32_t width;
  std::uint32_t biased;
};

Outputs infer(const OpCall& call) {
  const Shape& state = call.inputs[0].shape();
  const Shape& x = call.inputs[1].shape();
  const Shape& w = call.inputs[2].shape();
  require_rank(call, 0, 3);
  require_rank(call, 2, 2);
  if (x.rank() != 2) {
    require_rank(call, 1, 3);
  }
  if (w.back() < 2) {
    throw_invalid_argument("ssm_conv needs a width of at least 2, but got ", describe(call, 2),
                           ".");
  }
  require_pair(w.dim(0) == x.back() && w.fixed(), call, "w with a row for each channel", 1, 2);
  require_pair(state.dim(1) == x.back() && state.back() == w.back() - 1, call,
               "a state [slots, channels, width - 1]", 0, 2);
  require_row(call, 1, 3);
  require_slots(call, 0, 1, kIds, Sequences(x, 1));
  return TensorSpec{x, DType::f32};
}

Cost cost(const BoundCall& call) {
  const Shape& x = call.tensors[1].shape();
  const std::int64_t width = call.tensors[2].shape().back();
  Cost cost = streaming_cost(call, 2 * static_cast<std::uint64_t>(x.elements() * width));
  count_used_slots(call.tensors[0], Sequences(x, 1).sequences, cost);
  return cost;
}

void reference(const HostCall& call) {
  const HostTensor& state = call.tensors[0];
  const HostTensor& x = call.tensors[1];
  const HostTensor& w = call.tensors[2];
  const HostTensor& bias = call.tensors[3];
  const HostTensor& y = call.tensors[5];
  const Sequences of(x.shape(), 1);
  const bool begins = call.value(call.as<SsmConvAttributes>().past) <= 0;
  const std::int64_t channels = x.shape().back();
  const std::int64_t width = w.shape().back();
  const std::int64_t step = last_stride(x);
  if (of.tokens == 0) {
    return;
  }
  std::vector<double> all(static_cast<std::size_t>(width - 1 + of.tokens));
  for (std::int64_t s = 0; s < of.sequences; ++s) {
    const std::int64_t slot = slot_of(state, call.tensors[kIds], s);
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t row = (slot * channels + c) * (width - 1);
      for (std::int64_t i = 0; i < width - 1 && slot >= 0; ++i) {
        all[static_cast<std::size_t>(i)] = begins ? 0 : state.load(row + i);
      }
      for (std::int64_t t = 0; t < of.tokens; ++t) {
        all[static_cast<std::size_t>(width - 1 + t)] = x.load(x.row(0, s, t) + c * step);
      }
      for (std::int64_t t = 0; t < of.tokens; ++t) {
        double sum = bias ? bias.load(c) : 0;
        for (std::int64_t k = 0; k < width; ++k) {
          sum += w.load(c * width + k) * all[static_cast<std::size_t>(t + k)];
        }
        y.store(y.row(0, s, t) + c, slot < 0 ? std::numeric_limits<double>::quiet_NaN() : sum);
      }
      for (std::int64_t i = 0; i < width - 1 && slot >= 0; ++i) {
        state.store(row + i, all[static_cast<std::size_t>(of.tokens + i)]);
      }
    }
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[1];
  const Shape& w = call.tensors[2].shape();
  const Sequences of(x.shape(), 1);
  const View view = view_of(x, traits);
  const Push push{
      .recurrence = {call, traits, x.shape(), 1, kIds, call.as<SsmConvAttributes>().past},
      .x_strides = {view.strides[1], view.strides[2], view.strides[3]},
      .all_tokens = word(of.tokens),
      .channels = word(w.dim(0)),
      .width = word(w.back()),
      .biased = call.tensors[3] ? 1U : 0U};
  indexable_elements(call.tensors[5]);
  dispatch_tokens(call, traits, steps, x.shape(), of, w.dim(0), 2 * w.back() + 4, kShaders[0],
                  push);
}

}  // namespace

extern const OpDef ssm_conv_def;
const OpDef ssm_conv_def{.name = "ssm_conv",
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

Tensor ssm_conv(Site site, TensorRef state, TensorRef x, TensorRef w, TensorRef bias, TensorRef ids,
                SsmConvAttributes a) {
  return record(site, ops::ssm_conv_def, {state, x, w, bias, ids}, a);
}

}  // namespace reprise
