#include "reprise/ops/binary.h"
#include "reprise/ops/route_top_k.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "exp in f32, sums of all gates";

std::vector<Tensor> both(const RoutedExperts& routed) { return {routed.ids, routed.weights}; }

OpCase routed(std::int64_t rows, std::int64_t experts, std::int32_t k, ExpertGate gate,
              bool normalise) {
  return {std::to_string(k) + "_of_" + std::to_string(rows) + "x" + std::to_string(experts) +
              (gate == ExpertGate::softmax ? "_softmax" : "_sigmoid") +
              (normalise ? "_normalised" : ""),
          kLimit, kWhy, [=](CaseContext& c) {
            return both(route_top_k(c.recorder(), c.input({rows, experts}, DType::f32, -6, 6),
                                    {.k = k, .gate = gate, .normalise = normalise, .scale = 2.5F}));
          }};
}

// Few rows and experts: scores are rounded sums, so two that nearly agree may change places.
OpCase biased(ExpertGate gate) {
  return {gate == ExpertGate::softmax ? "biased_softmax" : "biased_sigmoid", kLimit, kWhy,
          [=](CaseContext& c) {
            Recorder& r = c.recorder();
            const Tensor bias = slice(r, c.input({12}, DType::f32, -1, 1), 0, 3, 8);
            return both(
                route_top_k(r, c.input({3, 8}, DType::f32, -2, 2), {.k = 3, .gate = gate}, bias));
          }};
}

OpCase strided() {
  return {"strided", kLimit, kWhy, [](CaseContext& c) {
            Recorder& r = c.recorder();
            return both(
                route_top_k(r, slice(r, c.input({9, 80}, DType::f32, -4, 4), 1, 7, 60), {.k = 8}));
          }};
}

// The same 4 logits 15 times per row.
OpCase ties() {
  return {
      "first_of_equals", kLimit, kWhy, [](CaseContext& c) {
        Recorder& r = c.recorder();
        const Tensor zeros = c.input({5, 60}, DType::f32, 0, 0);
        return both(route_top_k(r, add(r, zeros, c.input({5, 4}, DType::f32, -1, 1)), {.k = 8}));
      }};
}

// Subnormals: a device that flushes them must still order them.
OpCase subnormal() {
  return {"subnormal", kLimit, kWhy, [](CaseContext& c) {
            return both(
                route_top_k(c.recorder(), c.input({7, 65}, DType::f32, -1e-39, 1e-39), {.k = 4}));
          }};
}

// What overflows becomes infinite, or NaN: values from `low` on, of -4 to 4, outside of -1.13
// to 1.13.
OpCase others(const std::string& name, double low, double zero, ExpertGate gate) {
  return {name + (gate == ExpertGate::softmax ? "_softmax" : "_sigmoid"), kLimit, kWhy,
          [=](CaseContext& c) {
            Recorder& r = c.recorder();
            const Tensor large =
                mul(r, c.input({9, 60}, DType::f32, low, 4), c.input({1}, DType::f32, 3e38, 3e38));
            const Tensor made = mul(r, large, c.input({1}, DType::f32, zero, zero));
            return both(route_top_k(r, add(r, made, c.input({9, 60}, DType::f32, -1, 1)),
                                    {.k = 8, .gate = gate}));
          }};
}

}  // namespace

std::vector<OpCase> route_top_k_cases() {
  std::vector<OpCase> cases{strided(), ties(), subnormal()};
  for (const ExpertGate gate : {ExpertGate::softmax, ExpertGate::sigmoid}) {
    cases.push_back(routed(1, 1, 1, gate, true));
    cases.push_back(routed(1, 128, 8, gate, true));
    cases.push_back(routed(7, 8, 2, gate, false));
    cases.push_back(routed(65, 60, 4, gate, true));
    cases.push_back(routed(3, 64, 64, gate, false));
    cases.push_back(routed(130, 129, 1, gate, false));
    cases.push_back(routed(2, 513, 6, gate, true));
    cases.push_back(biased(gate));
    cases.push_back(others("infinite", -4, 1, gate));
    cases.push_back(others("some_not_a_number", -4, 0, gate));
    cases.push_back(others("not_a_number", 2, 0, gate));
  }
  return cases;
}

}  // namespace reprise::testing
