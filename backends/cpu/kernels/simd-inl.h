// What kernels share, compiled once per instruction set: included after hwy/foreach_target.h.
#include <hwy/highway.h>

#include "backends/cpu/kernel.h"

/// Whether the instruction set that is compiled for has products of bytes, and their sums in one
/// instruction (VNNI): for #if.
#define REPRISE_BYTE_PRODUCTS (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
#define REPRISE_BYTE_SUMS (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL)

/// After the parameters of a lambda in a loop over weights: called, it would keep its sums in
/// memory.
#define REPRISE_INLINED HWY_ATTR __attribute__((always_inline))

/// Defines plan_<op>() as that of the best instruction set of the machine. Use it once, under
/// HWY_ONCE.
#define REPRISE_EXPORT_KERNEL(op)                            \
  namespace reprise::cpu {                                   \
  HWY_EXPORT(plan_##op);                                     \
  bool plan_##op(const KernelCall& call, KernelPlan& plan) { \
    return HWY_DYNAMIC_DISPATCH(plan_##op)(call, plan);      \
  }                                                          \
  } /* namespace reprise::cpu */

#if defined(REPRISE_SIMD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_SIMD_INL_H
#undef REPRISE_SIMD_INL_H
#else
#define REPRISE_SIMD_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using Vf = hn::Vec<F32>;
inline constexpr std::size_t kLanes = hn::MaxLanes(F32());

/// Whether a masked load or store of T leaves what it does not touch alone. Otherwise it is a copy
/// through the stack, and its call makes loops keep their constants there.
template <class T>
inline constexpr bool kHasMasks =
    !HWY_MEM_OPS_MIGHT_FAULT || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && sizeof(T) >= 4);

/// The first `count` elements, then zeros. Reads nothing behind them.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_part(D d, const T* from, std::size_t count) {
  if constexpr (kHasMasks<T>) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN T padded[hn::MaxLanes(D())] = {};
    std::memcpy(padded, from, count * sizeof(T));
    return hn::Load(d, padded);
  }
}

/// The first `count` elements. Writes nothing behind them.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_part(D d, hn::Vec<D> v, T* to, std::size_t count) {
  if constexpr (kHasMasks<T> && sizeof(T) >= 4) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  } else {
    HWY_ALIGN T all[hn::MaxLanes(D())];
    hn::Store(v, d, all);
    std::memcpy(to, all, count * sizeof(T));
  }
}

/// The same for `count` or more.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_up_to(D d, const T* from, std::size_t count) {
  return count >= hn::MaxLanes(d) ? hn::LoadU(d, from) : load_part(d, from, count);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_up_to(D d, hn::Vec<D> v, T* to, std::size_t count) {
  if (count >= hn::MaxLanes(d)) {
    hn::StoreU(v, d, to);
  } else {
    store_part(d, v, to, count);
  }
}

using Four = hn::FixedTag<float, 4>;

/// The 128-bit blocks of a vector, added.
template <class D>
HWY_INLINE hn::Vec<Four> sum_of_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// Four vectors of blocks of four lanes: lane j of the blocks of all, for each j.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_blocks(D d, V (&v)[4]) {
  const hn::Repartition<double, D> pairs;
  const auto low = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
  const auto high = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
  const auto low2 = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
  const auto high2 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low, low2));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low, low2));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high, high2));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high, high2));
}

/// {sum of a, sum of b, sum of c, sum of e}: one order of additions for all four.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<Four> sums_of(D d, V a, V b, V c, V e) {
  const hn::Repartition<double, D> pairs;
  const V ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const V ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto low = hn::InterleaveLower(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, ce));
  const auto high = hn::InterleaveUpper(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, ce));
  return sum_of_blocks(d, hn::Add(hn::BitCast(d, low), hn::BitCast(d, high)));
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
