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
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const Vf rest{_mm512_reduce_ps(t.raw, 0)};  // without the nearest integer
#else
  const Vf rest = hn::Sub(t, hn::Sub(shifted, digits));
#endif
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
  explicit LogitWeights(float best) : best_(best) {}
  HWY_INLINE VWeight of(Vf logits) const { return weights_of(below(logits)); }
  HWY_INLINE VWeight of(Vf logits, float coldness) const {
    return weights_of(hn::Mul(below(logits), hn::Set(F32(), coldness)));
  }
  std::uint32_t of(float logit) const { return weight_of(logit - best_); }

 private:
  HWY_INLINE Vf below(Vf logits) const { return hn::Sub(logits, hn::Set(F32(), best_)); }
  float best_;
};

/// A sum of up to 2^16 weights per lane: that of all their bits, of which the last 32 are kept, and
/// that of their upper halves, which tells the rest.
class WeightSum {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16U;
  struct Parts {
    HWY_INLINE explicit Parts(VWeight weight) : whole(weight), high(hn::ShiftRight<16>(weight)) {}
    VWeight whole, high;
  };
  HWY_INLINE WeightSum() : whole_(hn::Zero(WeightBits())), high_(hn::Zero(WeightBits())) {}
  HWY_INLINE void add(Parts weight) {
    whole_ = hn::Add(whole_, weight.whole);
    high_ = hn::Add(high_, weight.high);
  }
  HWY_INLINE void add_where(hn::Mask<F32> lanes, Parts weight) {
    const auto of = hn::RebindMask(WeightBits(), lanes);
    add_to(whole_, of, weight.whole);
    add_to(high_, of, weight.high);
  }
  std::uint64_t total() const {
    HWY_ALIGN std::uint32_t whole[kLanes];
    HWY_ALIGN std::uint32_t high[kLanes];
    const hn::Rebind<std::uint32_t, F32> words;
    hn::Store(hn::BitCast(words, whole_), words, whole);
    hn::Store(hn::BitCast(words, high_), words, high);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kLanes; ++i) {
      // The lower halves make up less than 2^32.
      sum += (std::uint64_t{high[i]} << 16U) + (whole[i] - (high[i] << 16U));
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

  VWeight whole_, high_;
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
