#include "reprise/ops/route_top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {
    {"logits", Access::read, accepts({DType::f32}), false, Layout::rows},
    {"bias", Access::read, accepts({DType::f32}), true}};
constexpr Operand kResults[] = {{"ids", Access::write, accepts({DType::i32})},
                                {"weights", Access::write, accepts({DType::f32})}};
constexpr Attribute kAttributes[] = {
    {"k", AttributeType::i32, offsetof(RouteAttributes, k)},
    {"gate", AttributeType::i32, offsetof(RouteAttributes, gate)},
    {"normalise", AttributeType::boolean, offsetof(RouteAttributes, normalise)},
    {"scale", AttributeType::param_f32, offsetof(RouteAttributes, scale)}};
constexpr std::string_view kShaders[] = {"route_top_k"};

// Mirrors the push block of shaders/route_top_k.comp.
struct Push {
  std::uint32_t rows;
  std::uint32_t experts;
  std::uint32_t k;
  std::uint32_t sigmoid;
  std::uint32_t normalise;
  std::uint32_t biased;
  std::uint32_t bias_offset;
  View logits;
  Param<float> scale;
};

Outputs infer(const OpCall& call) {
  require_rank(call, 0, 2);
  const auto& a = call.as<RouteAttributes>();
  const Shape& logits = call.inputs[0].shape();
  const std::int64_t experts = logits.back();
  if (a.k < 1 || a.k > experts || a.k > kMaxRoutedExperts) {
    throw_invalid_argument("route_top_k chooses (1) to (",
                           std::min<std::int64_t>(experts, kMaxRoutedExperts), ") of ",
                           describe(call, 0), " per row, but k is (", a.k, ").");
  }
  if (experts > std::numeric_limits<std::int32_t>::max()) {
    throw_invalid_argument("route_top_k needs at most 2^31 - 1 experts, but got ",
                           describe(call, 0), ".");
  }
  if (a.gate != ExpertGate::softmax && a.gate != ExpertGate::sigmoid) {
    throw_invalid_argument("route_top_k knows the gates softmax (0) and sigmoid (1), but got (",
                           static_cast<std::int32_t>(a.gate), ").");
  }
  require_row(call, 0, 1);
  Outputs outputs;
  const Shape chosen = logits.with_back(a.k);
  outputs.specs[outputs.count++] = {chosen, DType::i32};
  outputs.specs[outputs.count++] = {chosen, DType::f32};
  return outputs;
}

/// The gates of one row.
void fill_gates(const float* logits, ExpertGate gate, std::span<double> gates) {
  if (gate == ExpertGate::sigmoid) {
    for (std::size_t e = 0; e < gates.size(); ++e) {
      const auto logit = static_cast<double>(logits[e]);
      gates[e] = std::isnan(logit) ? 0 : 1 / (1 + std::exp(-logit));
    }
    return;
  }
  float largest = -std::numeric_limits<float>::infinity();
  for (std::size_t e = 0; e < gates.size(); ++e) {
    largest = logits[e] > largest ? logits[e] : largest;
  }
  double sum = 0;
  for (std::size_t e = 0; e < gates.size(); ++e) {
    const double below = static_cast<double>(logits[e]) - static_cast<double>(largest);
    gates[e] = std::isnan(logits[e])  ? 0
               : logits[e] == largest ? 1  // both may be infinite
                                      : std::exp(below);
    sum += gates[e];
  }
  for (double& g : gates) {
    g = sum > 0 ? g / sum : 0;
  }
}

void reference(const HostCall& call) {
  const HostTensor& logits = call.tensors[0];
  const HostTensor& bias = call.tensors[1];
  const auto& a = call.as<RouteAttributes>();
  const auto k = static_cast<std::size_t>(a.k);
  const auto experts = static_cast<std::size_t>(logits.shape().back());
  const auto scale = static_cast<double>(call.value(a.scale));
  std::vector<double> gates(experts);
  std::vector<float> scores(experts);
  std::vector<std::int32_t> order(experts);
  for (std::int64_t r = 0; r < logits.shape().dim(0); ++r) {
    const float* row = elements_of<const float>(logits) + logits.row(0, 0, r);
    fill_gates(row, a.gate, gates);
    for (std::size_t e = 0; e < experts; ++e) {
      order[e] = static_cast<std::int32_t>(e);
      scores[e] = bias ? static_cast<float>(gates[e]) + elements_of<const float>(bias)[e] : row[e];
    }
    std::partial_sort(order.begin(), order.begin() + a.k, order.end(),
                      [&](std::int32_t i, std::int32_t j) {
                        const float left = scores[static_cast<std::size_t>(i)];
                        const float right = scores[static_cast<std::size_t>(j)];
                        if (std::isnan(left) != std::isnan(right)) {
                          return std::isnan(right);
                        }
                        return left > right || (!(left < right) && i < j);
                      });
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      sum += gates[static_cast<std::size_t>(order[i])];
    }
    const std::size_t to = static_cast<std::size_t>(r) * k;
    for (std::size_t i = 0; i < k; ++i) {
      const double weight = gates[static_cast<std::size_t>(order[i])];
      elements_of<std::int32_t>(call.tensors[2])[to + i] = order[i];
      elements_of<float>(call.tensors[3])[to + i] =
          static_cast<float>((a.normalise && sum > 0 ? weight / sum : weight) * scale);
    }
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& logits = call.tensors[0];
  const BoundTensor& bias = call.tensors[1];
  const auto& a = call.as<RouteAttributes>();
  const std::int64_t experts = logits.shape().back();
  // Scans of all experts, and each may push back all that were chosen before it.
  require_loop_limit(call, traits, experts * (3 + std::int64_t{a.k}), experts);
  indexable_elements(logits);
  const Push push{word(logits.shape().dim(0)),
                  word(experts),
                  word(a.k),
                  a.gate == ExpertGate::sigmoid ? 1U : 0U,
                  a.normalise ? 1U : 0U,
                  bias ? 1U : 0U,
                  view_of(bias, traits).offset,
                  view_of(logits, traits),
                  a.scale};
  const auto rows = static_cast<std::uint64_t>(logits.shape().dim(0));
  dispatch_units(call, traits, steps, call.op.shaders[0], {logits.shape(), rows}, push);
}

}  // namespace

extern const OpDef route_top_k_def;
const OpDef route_top_k_def{.name = "route_top_k",
                            .family = OpFamily::other,
                            .operands = kOperands,
                            .results = kResults,
                            .attributes = kAttributes,
                            .push_bytes = sizeof(Push),
                            .shaders = kShaders,
                            .infer = infer,
                            .cost = cost_per_element<4>,
                            .reference = reference,
                            .lower = lower,
                            .extents = ExtentRule::rows,
                            .chooses_experts = true};

}  // namespace reprise::ops

namespace reprise {

RoutedExperts route_top_k(Site site, TensorRef logits, RouteAttributes a, TensorRef bias) {
  Tensor results[2];
  record_into(results, site, ops::route_top_k_def, {logits, bias}, a);
  return {results[0], results[1]};
}

}  // namespace reprise
