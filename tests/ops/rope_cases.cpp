#include "reprise/ops/rope.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-12;
constexpr const char* kWhy = "angles are exact, sine and cosine good to an f32 rounding or two";

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
                      .positions = &positions,
                      .frequency_factors = &factors})};
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
      state()};
}

}  // namespace reprise::testing
