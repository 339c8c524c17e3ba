// Weights of logits as sample() has them, the same bits as framework/core/sample_arithmetic.h: no
// multiplication may become part of a sum (backends/CMakeLists.txt).
#include <limits>

#include "backends/cpu/kernels/simd-inl.h"
#include "framework/core/sample_arithmetic.h"

#if defined(REPRISE_SAMPLE_WEIGHTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_SAMPLE_WEIGHTS_INL_H
#undef REPRISE_SAMPLE_WEIGHTS_INL_H
#else
#define REPRISE_SAMPLE_WEIGHTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

using WeightBits = hn::Rebind<std::int32_t, F32>;
using VWeight = hn::Vec<WeightBits>;

/// weight_of() of every lane.
HWY_INLINE VWeight weights_of(Vf x) {
  const F32 d;
  const WeightBits words;
  const Vf t = hn::Mul(x, hn::Set(d, 1.44269504F));
  // The sum rounds t to an integer, ties to even; its last bits are that integer and 30, which is
  // added to the exponent of p.
  const Vf digits = hn::Set(d, 0x1.8p23F + 30);
  const Vf shifted = hn::Add(t, digits);
  const Vf rest = hn::Sub(t, hn::Sub(shifted, digits));
  Vf p = hn::Set(d, 1.32647273e-3F);
  for (const float coefficient :
       {9.67151299e-3F, 5.55073358e-2F, 2.40222424e-1F, 6.93147004e-1F, 1.0F}) {
    p = hn::Add(hn::Mul(p, rest), hn::Set(d, coefficient));
  }
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(words, shifted));
  const Vf scaled = hn::BitCast(d, hn::Add(hn::BitCast(words, p), exponent));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const VWeight weight{
      _mm512_cvttps_epi32(scaled.raw)};  // without Highway's care for 2^31 and more
#else
  const auto weight = hn::ConvertTo(words, scaled);
#endif
  return hn::IfThenElseZero(hn::RebindMask(words, hn::Gt(x, hn::Set(d, -21.0F))), weight);
}

/// The weights of logits, of which the largest is a number; 0 of NaN.
class LogitWeights {
 public:
  LogitWeights(float best, float coldness) : best_(best), coldness_(coldness) {}
  HWY_INLINE VWeight of(Vf logits) const {
    const F32 d;
    return weights_of(hn::Mul(hn::Sub(logits, hn::Set(d, best_)), hn::Set(d, coldness_)));
  }
  std::uint32_t of(float logit) const { return weight_of((logit - best_) * coldness_); }

 private:
  float best_, coldness_;
};

/// A sum of up to 2^16 weights per lane, each in two halves that do not overflow.
class WeightSum {
 public:
  struct Halves {
    HWY_INLINE explicit Halves(VWeight weight)
        : low(hn::And(weight, hn::Set(WeightBits(), 0xFFFF))), high(hn::ShiftRight<16>(weight)) {}
    VWeight low, high;
  };
  HWY_INLINE WeightSum() : low_(hn::Zero(WeightBits())), high_(hn::Zero(WeightBits())) {}
  HWY_INLINE void add(Halves weight) {
    low_ = hn::Add(low_, weight.low);
    high_ = hn::Add(high_, weight.high);
  }
  HWY_INLINE void add_where(hn::Mask<F32> lanes, Halves weight) {
    const auto of = hn::RebindMask(WeightBits(), lanes);
    add_to(low_, of, weight.low);
    add_to(high_, of, weight.high);
  }
  /// Lanes are added as 64 bits: the sum of the low halves may need more than 32.
  std::uint64_t total() const {
    HWY_ALIGN std::int32_t low[kLanes];
    HWY_ALIGN std::int32_t high[kLanes];
    hn::Store(low_, WeightBits(), low);
    hn::Store(high_, WeightBits(), high);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kLanes; ++i) {
      sum += (static_cast<std::uint64_t>(high[i]) << 16U) + static_cast<std::uint32_t>(low[i]);
    }
    return sum;
  }

 private:
  static HWY_INLINE void add_to(VWeight& sum, hn::Mask<WeightBits> of, VWeight weight) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    // clang 14 makes two instructions of the one that adds by a mask.
    asm("vpaddd %2, %0, %0 %{%1%}" : "+v"(sum.raw) : "Yk"(of.raw), "v"(weight.raw));
#else
    sum = hn::Add(sum, hn::IfThenElseZero(of, weight));
#endif
  }

  VWeight low_, high_;
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
