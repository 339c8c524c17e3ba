// Rows of weights of every format.
#include "backends/cpu/kernels/super_blocks-inl.h"

#if defined(REPRISE_WEIGHT_FORMATS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_WEIGHT_FORMATS_INL_H
#undef REPRISE_WEIGHT_FORMATS_INL_H
#else
#define REPRISE_WEIGHT_FORMATS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Calls one of the functions with the weights of a type: those that products of integers take
/// (Q8Weights, Q4Weights and super-blocks of integers) and all others. False if there are none.
template <class Plain, class Integers>
bool with_weights(DType type, Plain&& plain, Integers&& integers) {
  switch (type) {
    case DType::f32:
      return plain(F32Weights());
    case DType::f16:
      return plain(F16Weights());
    case DType::bf16:
      return plain(Bf16Weights());
    case DType::q8_0:
      return integers(Q8Weights());
    case DType::q4_0:
      return integers(Q4Weights());
    case DType::q4_1:
      return plain(UnpackedWeights<DType::q4_1, SmallBlocks<DType::q4_1>>());
    case DType::q5_0:
      return plain(UnpackedWeights<DType::q5_0, SmallBlocks<DType::q5_0>>());
    case DType::q5_1:
      return plain(UnpackedWeights<DType::q5_1, SmallBlocks<DType::q5_1>>());
    case DType::q4_k:
      return integers(Q4KWeights());
    case DType::q5_k:
      return integers(Q5KWeights());
    case DType::q6_k:
      return integers(Q6KWeights());
    case DType::q2_k:
      return plain(UnpackedWeights<DType::q2_k, TwoBitBlocks<DType::q2_k>>());
    case DType::q3_k:
      return plain(UnpackedWeights<DType::q3_k, TwoBitBlocks<DType::q3_k>>());
    case DType::iq4_nl:
      return plain(UnpackedWeights<DType::iq4_nl, SmallBlocks<DType::iq4_nl>>());
    case DType::iq4_xs:
      return plain(UnpackedWeights<DType::iq4_xs, Iq4XsBlocks>());
    default:
      return false;
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
