// route_top_k: ids are chosen by the numbers that the reference has, so that they are the same:
// logits, or gates in f64 where a bias is added. Without a bias gates are f32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/route_top_k.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/exp-inl.h"
#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"
#include "backends/cpu/kernels/selection-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Route {
  Rows logits;
  const float* bias;  // null: none
  std::int32_t* ids;
  float* weights;
  std::size_t k, room;
  bool sigmoid, normalise;
  Param<float> scale;
};

/// The gate of a logit: a share of `sum` if it is a softmax.
double gate_of(const Route& a, float logit, float largest, double sum) {
  if (std::isnan(logit)) {
    return 0;
  }
  if (a.sigmoid) {
    return 1 / (1 + std::exp(-static_cast<double>(logit)));
  }
  const double below = static_cast<double>(logit) - static_cast<double>(largest);
  const double e = logit == largest ? 1 : std::exp(below);  // both may be infinite
  return sum > 0 ? e / sum : 0;
}

/// The sum of a softmax in f32: it decides nothing but the size of weights.
double sum_of_row(const float* x, std::size_t experts, float largest) {
  const F32 d;
  const Vf max = hn::Set(d, largest);
  return static_cast<double>(
      fold<FoldSum>(experts, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
        const Vf v = load_up_to(d, x + i, left);
        const Vf e = hn::IfThenElse(hn::Eq(v, max), hn::Set(d, 1.0F), exp_of(hn::Sub(v, max)));
        return hn::IfThenZeroElse(hn::IsNaN(v), e);
      }));
}

/// The same in the order of the reference, to the bit.
double exact_sum_of_row(const Route& a, const float* x, std::size_t experts, float largest) {
  double sum = 0;
  for (std::size_t e = 0; e < experts; ++e) {
    sum += gate_of(a, x[e], largest, 1);
  }
  return sum;
}

void route_row(const Route& a, const float* x, double scale, std::span<Rank> room, float* scores,
               std::int32_t* ids, float* weights) {
  const auto experts = static_cast<std::size_t>(a.logits.dims[3]);
  const float max = fold<FoldMax>(experts, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
    return load_up_to(F32(), x + i, left);
  });
  double sum = 1;
  if (!a.sigmoid) {
    sum = a.bias == nullptr ? sum_of_row(x, experts, max) : exact_sum_of_row(a, x, experts, max);
  }
  Largest largest(room, a.k);
  for (std::size_t e = 0; e < experts && a.bias != nullptr; ++e) {
    scores[e] = static_cast<float>(gate_of(a, x[e], max, sum)) + a.bias[e];
  }
  add_elements(a.bias == nullptr ? x : scores, 0, experts, largest);
  const std::span<const Rank> chosen = largest.sorted();
  double gates[64] = {};
  double all = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    ids[i] = static_cast<std::int32_t>(column_of(chosen[i]));
    gates[i] = gate_of(a, x[ids[i]], max, sum);
    all += gates[i];
  }
  const bool shares = a.normalise && all > 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    weights[i] = static_cast<float>((shares ? gates[i] / all : gates[i]) * scale);
  }
}

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Route>();
  const std::span room(reinterpret_cast<Rank*>(work.own), a.room);
  auto* const scores = reinterpret_cast<float*>(room.data() + room.size());
  const auto scale = static_cast<double>(work.value(a.scale));
  for (std::int64_t row = first; row < end; ++row) {
    const std::size_t to = static_cast<std::size_t>(row) * a.k;
    route_row(a, a.logits.row(row, a.logits.dims), scale, room, scores, a.ids + to, a.weights + to);
  }
}

}  // namespace

bool plan_route_top_k(const KernelCall& call, KernelPlan& plan) {
  constexpr std::int32_t kSigmoid = 1;  // ExpertGate::sigmoid
  Route route{.logits = Rows(call.tensors[0]),
              .bias = reinterpret_cast<const float*>(call.tensors[1].data),
              .ids = reinterpret_cast<std::int32_t*>(call.tensors[2].data),
              .weights = reinterpret_cast<float*>(call.tensors[3].data),
              .k = static_cast<std::size_t>(attribute<std::int32_t>(call, "k")),
              .room = 0,
              .sigmoid = attribute<std::int32_t>(call, "gate") == kSigmoid,
              .normalise = attribute<bool>(call, "normalise"),
              .scale = attribute<Param<float>>(call, "scale")};
  route.room = Largest::room_for(route.k, static_cast<std::size_t>(route.logits.dims[3]));
  plan.main = {.run = run,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 200 + static_cast<double>(route.logits.dims[3]) *
                                    (route.bias == nullptr ? 5 : 20)};
  const std::int64_t scores = route.bias == nullptr ? 0 : route.logits.dims[3];
  plan.own_bytes = route.room * sizeof(Rank) + static_cast<std::uint64_t>(scores) * sizeof(float);
  plan.set_arguments(route);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(route_top_k)
#endif
