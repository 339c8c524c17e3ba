// What the kernels that rotate share: the angles of a row once for all its heads, reduced in f64,
// then f32 vectors.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_ROPE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROPE_INL_H
#undef REPRISE_ROPE_INL_H
#else
#define REPRISE_ROPE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

struct Rope {
  const float* x;
  const std::int32_t* positions;  // null: position + row
  const float* factors;           // null: 1
  std::int64_t heads, cols, x_row, x_head;
  std::int64_t pairs;
  Param<std::int32_t> position;
  Param<float> base, scale;
  bool half_split;
  Param<float> extrapolation{0.0F}, magnitude{1.0F};
  Param<std::int32_t> ramp_first{}, ramp_last{};
  double ratio = 1;       // base^(-1 / pairs)
  double turns = 0;       // scale / (2 pi)
  double kept = 0;        // extrapolation
  std::int64_t ramp = 0;  // its first pair
  std::int64_t ramp_pairs = 1;
  float factor = 1;  // magnitude

  /// A base that is no finite number of at least 1 counts as 1, a scale that is no positive normal
  /// number as 0.
  void set_angles(float with_base, float with_scale) {
    const bool rotates = with_scale > 0 && std::isnormal(with_scale);
    const bool shrinks = with_base >= 1 && std::isfinite(with_base);
    ratio =
        shrinks ? std::pow(static_cast<double>(with_base), -1.0 / static_cast<double>(pairs)) : 1;
    turns = rotates ? static_cast<double>(with_scale) / (2 * std::numbers::pi) : 0;
  }
  /// Numbers outside their range count as the nearest one inside, NaN as 0.
  void set_ramp(float share, std::int32_t first, std::int32_t last, float with_magnitude) {
    constexpr std::int32_t kMaxRamp = 32767;
    kept = share > 0 ? std::min(static_cast<double>(share), 1.0) : 0;
    ramp = std::clamp(first, 0, kMaxRamp);
    ramp_pairs = std::max<std::int64_t>(std::clamp(last, 0, kMaxRamp) - ramp, 1);
    factor = with_magnitude;
  }
  /// Turns per position of a pair, before base and factors.
  double turns_of(std::int64_t pair) const {
    const double along = static_cast<double>(pair - ramp) / static_cast<double>(ramp_pairs);
    const double share = kept * (1 - std::clamp(along, 0.0, 1.0));
    return turns * (1 - share) + share / (2 * std::numbers::pi);
  }
};

/// Of a call with the schema and attributes of rope; operands from `first` on are those of rope.
inline Rope rope_of(const KernelCall& call, std::size_t first) {
  const HostTensor& x = call.tensors[first];
  const auto dims = attribute<std::int32_t>(call, "dims");
  const std::int64_t cols = x.shape().back();
  Rope a{.x = reinterpret_cast<const float*>(x.data),
         .positions = reinterpret_cast<const std::int32_t*>(call.tensors[first + 1].data),
         .factors = reinterpret_cast<const float*>(call.tensors[first + 2].data),
         .heads = x.shape().dim(1),
         .cols = cols,
         .x_row = x.spec->strides[0],
         .x_head = x.spec->strides[1],
         .pairs = (dims == 0 ? cols : std::int64_t{dims}) / 2,
         .position = attribute<Param<std::int32_t>>(call, "position"),
         .base = attribute<Param<float>>(call, "base"),
         .scale = attribute<Param<float>>(call, "scale"),
         .half_split = attribute<std::int32_t>(call, "pairing") == 1};
  a.set_angles(a.base.value, a.scale.value);
  return a;
}

using F64 = hn::Repartition<double, F32>;
constexpr std::size_t kWideLanes = kLanes / 2;

/// Angles as f32 within an eighth of a turn of the nearest quarter turn, and that quarter.
template <class Half, class I32>
HWY_INLINE hn::Vec<Half> reduced(Half half, const double* turns, hn::Vec<I32>& quarter) {
  const F64 wide;
  const auto v = hn::Load(wide, turns);
  const auto part = hn::Sub(v, hn::Round(v));
  const auto quarters = hn::Round(hn::Mul(part, hn::Set(wide, 4.0)));
  quarter = hn::DemoteTo(I32(), quarters);
  const auto rest = hn::NegMulAdd(quarters, hn::Set(wide, 0.25), part);
  return hn::DemoteTo(half, hn::Mul(rest, hn::Set(wide, 2 * std::numbers::pi)));
}

/// Sines and cosines of kLanes numbers of turns, times `factor`. Polynomials after Cephes' sinf and
/// cosf: good to an f32 rounding or two within an eighth of a turn.
HWY_INLINE void sines_cosines(const double* turns, float factor, Vf& sine, Vf& cosine) {
  const F32 d;
  const hn::Half<F32> half;
  const hn::RebindToSigned<F32> words;
  using HalfWords = hn::RebindToSigned<hn::Half<F32>>;
  hn::Vec<HalfWords> low, high;
  const auto x_low = reduced<hn::Half<F32>, HalfWords>(half, turns, low);
  const auto x_high = reduced<hn::Half<F32>, HalfWords>(half, turns + kWideLanes, high);
  const Vf x = hn::Combine(d, x_high, x_low);
  const auto quadrant = hn::Combine(words, high, low);
  const Vf z = hn::Mul(x, x);
  Vf s = hn::MulAdd(z, hn::Set(d, -1.9515295891e-4F), hn::Set(d, 8.3321608736e-3F));
  s = hn::MulAdd(s, z, hn::Set(d, -1.6666654611e-1F));
  s = hn::MulAdd(hn::Mul(x, z), s, x);
  Vf c = hn::MulAdd(z, hn::Set(d, 2.443315711809948e-5F), hn::Set(d, -1.388731625493765e-3F));
  c = hn::MulAdd(c, z, hn::Set(d, 4.166664568298827e-2F));
  c = hn::MulAdd(hn::Mul(z, z), c, hn::NegMulAdd(hn::Set(d, 0.5F), z, hn::Set(d, 1.0F)));
  const auto one = hn::Set(words, 1);
  const auto two = hn::Set(words, 2);
  const auto swap = hn::RebindMask(d, hn::TestBit(quadrant, one));
  const auto below = hn::RebindMask(d, hn::TestBit(quadrant, two));
  const auto left = hn::RebindMask(d, hn::TestBit(hn::Add(quadrant, one), two));
  const Vf size = hn::Set(d, factor);
  sine = hn::Mul(hn::IfThenElse(swap, c, s), hn::IfThenElse(below, hn::Neg(size), size));
  cosine = hn::Mul(hn::IfThenElse(swap, s, c), hn::IfThenElse(left, hn::Neg(size), size));
}

/// Angles of one position: sines, then cosines, `pairs` of each.
inline void fill_angles(const Rope& a, std::int32_t position, float* sines, float* cosines) {
  const bool mixed = a.kept > 0;
  double turns = static_cast<double>(position) * (mixed ? 1 : a.turns);
  HWY_ALIGN double of_pairs[kLanes] = {};
  for (std::int64_t first = 0; first < a.pairs; first += std::int64_t{kLanes}) {
    const std::int64_t count = std::min(a.pairs - first, std::int64_t{kLanes});
    for (std::int64_t i = 0; i < count; ++i, turns *= a.ratio) {
      double& of_pair = of_pairs[i];
      of_pair = mixed ? turns * a.turns_of(first + i) : turns;
      if (a.factors != nullptr) {
        const float factor = a.factors[first + i];
        of_pair = factor > 0 && std::isnormal(factor) ? of_pair / static_cast<double>(factor) : 0;
      }
    }
    Vf sine, cosine;
    sines_cosines(of_pairs, a.factor, sine, cosine);
    const auto left = static_cast<std::size_t>(count);
    store_up_to(F32(), sine, sines + first, left);
    store_up_to(F32(), cosine, cosines + first, left);
  }
}

HWY_INLINE void rotate_one(float a, float b, float sine, float cosine, float* to_a, float* to_b) {
  *to_a = a * cosine - b * sine;
  *to_b = a * sine + b * cosine;
}

inline void rotate(const Rope& a, const float* sines, const float* cosines, const float* x,
                   float* y) {
  const F32 d;
  const auto pairs = static_cast<std::size_t>(a.pairs);
  std::size_t i = 0;
  for (; i + kLanes <= pairs; i += kLanes) {
    const Vf sine = hn::LoadU(d, sines + i);
    const Vf cosine = hn::LoadU(d, cosines + i);
    Vf first;
    Vf second;
    if (a.half_split) {
      first = hn::LoadU(d, x + i);
      second = hn::LoadU(d, x + i + pairs);
    } else {
      hn::LoadInterleaved2(d, x + 2 * i, first, second);
    }
    const Vf to_first = hn::NegMulAdd(second, sine, hn::Mul(first, cosine));
    const Vf to_second = hn::MulAdd(first, sine, hn::Mul(second, cosine));
    if (a.half_split) {
      hn::StoreU(to_first, d, y + i);
      hn::StoreU(to_second, d, y + i + pairs);
    } else {
      hn::StoreInterleaved2(to_first, to_second, d, y + 2 * i);
    }
  }
  const std::size_t step = a.half_split ? 1 : 2;
  const std::size_t other = a.half_split ? pairs : 1;
  for (; i < pairs; ++i) {
    const float* from = x + i * step;
    rotate_one(from[0], from[other], sines[i], cosines[i], y + i * step, y + i * step + other);
  }
  std::copy_n(x + 2 * pairs, static_cast<std::size_t>(a.cols) - 2 * pairs, y + 2 * pairs);
}

/// Rotates rows one after another; their angles take 2 * pairs floats at `own`.
class RowRotation {
 public:
  RowRotation(const Work& work, const Rope& a)
      : a_(a),
        position_(static_cast<std::uint32_t>(work.value(a.position))),
        sines_(reinterpret_cast<float*>(work.own)) {
    if (a_.base.dynamic() || a_.scale.dynamic()) {
      a_.set_angles(work.value(a_.base), work.value(a_.scale));
    }
    a_.set_ramp(work.value(a_.extrapolation), work.value(a_.ramp_first), work.value(a_.ramp_last),
                work.value(a_.magnitude));
  }
  /// All heads of a row, one after another, to `y`.
  void rotate_row(std::int64_t row, float* y) const {
    const std::int32_t position =
        a_.positions != nullptr
            ? a_.positions[row]
            : static_cast<std::int32_t>(position_ + static_cast<std::uint32_t>(row));
    fill_angles(a_, position, sines_, sines_ + a_.pairs);
    for (std::int64_t head = 0; head < a_.heads; ++head) {
      rotate(a_, sines_, sines_ + a_.pairs, a_.x + row * a_.x_row + head * a_.x_head,
             y + head * a_.cols);
    }
  }
  static std::uint64_t own_bytes(const Rope& a) {
    return static_cast<std::uint64_t>(a.pairs) * 2 * sizeof(float);
  }
  static double row_ns(const Rope& a) {
    return static_cast<double>(a.pairs) * (2.5 + 0.6 * static_cast<double>(a.heads));
  }

 private:
  Rope a_;
  std::uint32_t position_;
  float* sines_;
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
