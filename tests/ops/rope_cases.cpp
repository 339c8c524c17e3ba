#include <algorithm>

#include "reprise/ops/rope.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-12;
constexpr const char* kWhy = "angles are exact, sine and cosine good to an f32 rounding or two";

// One in thousands of results rounds to the f16 beside, three more by chance. The largest results
// are off by 2^-10 then, where the squares of all add up to a third of their number.
double half_limit(const Shape& shape) {
  const auto elements = static_cast<double>(shape.elements());
  return std::min(1.0, (3 + elements / 1000) * 3 / elements) * 0x1p-20;
}

OpCase plain(const Shape& shape, RopeAttributes a, const std::string& label) {
  return {label, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {rope(c.recorder(), c.input(shape), a)};
          }};
}

OpCase given(RopePairing pairing) {
  return {
      pairing == RopePairing::half_split ? "tensors_half_split" : "tensors_interleaved", kLimit,
      kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
        Recorder& r = c.recorder();
        const Tensor x = permute(r, c.input({3, 5, 48}), {1, 0, 2});
        const Tensor positions = slice(r, c.integers({6}, {9, 0, 4096, -3, 131071, 7}), 0, 1, 5);
        const Tensor factors = c.input({20}, DType::f32, 0.25, 32);
        return {rope(r, x,
                     {.base = 500000,
                      .dims = 40,
                      .pairing = pairing,
                      .positions = positions,
                      .frequency_factors = factors})};
      }};
}

// Pairs before, on and behind the ramp; a scale below and above 1.
OpCase yarn(const Shape& shape, float scale, const YarnScaling& scaling, RopePairing pairing) {
  return {"yarn_" + std::to_string(shape.back()) +
              (pairing == RopePairing::half_split ? "_half_split" : ""),
          kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const RopeAttributes a{
                .position = 40000, .base = 10000, .scale = scale, .pairing = pairing};
            return {rope(c.recorder(), c.input(shape), with_yarn(a, shape.back(), scaling))};
          }};
}

OpCase ramp(const std::string& label, const RopeAttributes& a) {
  return {"ramp_" + label, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            RopeAttributes given = a;
            const Tensor factors = c.input({13}, DType::f32, 0.25, 32);
            given.frequency_factors = factors;
            return {rope(c.recorder(), c.input({7, 2, 31}), given)};
          }};
}

OpCase sections(const Shape& shape, const std::array<std::int32_t, 4>& widths, DType dtype,
                std::int32_t dims = 0) {
  return {"sections_" + std::to_string(widths[0]) + "_" + std::to_string(widths[3]) + "_" +
              std::string(name_of(dtype)),
          dtype == DType::f16 ? half_limit(shape) : kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor all = c.ids({shape.dim(0) + 1, 4}, DType::i32, -50, 5000);
            const Tensor positions = slice(r, all, 0, 1, shape.dim(0));
            return {rope(r, c.input(shape, dtype),
                         {.dims = dims,
                          .pairing = RopePairing::half_split,
                          .positions = positions,
                          .sections = widths})};
          }};
}

OpCase half(const Shape& shape, const RopeAttributes& a, const std::string& label) {
  return {label + "_f16", half_limit(shape), "results may round to the f16 beside",
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Shape wide{shape.dim(0), shape.dim(1), shape.dim(2) + 5};
            const Tensor x = slice(r, c.input(wide, DType::f16), 2, 3, shape.dim(2));
            return {rope(r, x, a)};
          }};
}

OpCase state() {
  return {"position_from_state",
          kLimit,
          kWhy,
          [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            return {rope(r, c.input({3, 4, 64}), {.position = r.state("pos")})};
          },
          {{"pos", {0, 17, 4095}}}};
}

}  // namespace

std::vector<OpCase> rope_cases() {
  return {
      plain({1, 1, 2}, {.position = 1}, "1x1x2"),
      plain({65, 3, 64}, {.position = 4032}, "65x3x64_late"),
      plain({5, 2, 128},
            {.position = 4000, .base = 1e6F, .scale = 0.25F, .pairing = RopePairing::half_split},
            "5x2x128_scaled_half_split"),
      plain({7, 3, 81}, {.position = -5, .dims = 20, .pairing = RopePairing::half_split},
            "7x3x81_partial_half_split"),
      plain({2, 257, 80}, {.position = 100, .scale = 9, .dims = 32}, "2x257x80_partial"),
      given(RopePairing::interleaved),
      given(RopePairing::half_split),
      yarn({5, 2, 128}, 0.25F, {.context = 4096}, RopePairing::half_split),
      yarn({3, 1, 64}, 1.0F / 40, {.context = 4096, .magnitude = 0.7F, .beta_slow = 2},
           RopePairing::interleaved),
      yarn({3, 3, 48}, 5, {.context = 512, .extrapolation = 0.25F}, RopePairing::interleaved),
      ramp("long", {.position = 70000,
                    .scale = 0.125F,
                    .dims = 26,
                    .extrapolation = 1,
                    .ramp_first = 2,
                    .ramp_last = 9,
                    .magnitude = -1.5F}),
      ramp("step", {.position = 9,
                    .scale = 0.3F,
                    .dims = 26,
                    .extrapolation = 0.5F,
                    .ramp_first = 7,
                    .ramp_last = 7}),
      sections({5, 2, 128}, {16, 24, 24, 0}, DType::f32),
      sections({3, 3, 40}, {3, 0, 5, 7}, DType::f32, 32),
      sections({65, 1, 24}, {1, 2, 3, 4}, DType::f16),
      half({1, 1, 2}, {.position = 1}, "1x1x2"),
      half({7, 3, 81}, {.position = 4032, .dims = 20, .pairing = RopePairing::half_split},
           "7x3x81_partial"),
      half({65, 5, 64}, {.position = 17, .scale = 0.5F}, "65x5x64"),
      state()};
}

}  // namespace reprise::testing
