// The mask of an attention: which keys of a row count, and what is added to their scores.
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/dot_tile-inl.h"

#if defined(REPRISE_ATTENTION_MASK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ATTENTION_MASK_INL_H
#undef REPRISE_ATTENTION_MASK_INL_H
#else
#define REPRISE_ATTENTION_MASK_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// A vector from element `i` of a row on, of which `left` are there.
template <class W>
HWY_INLINE Vf value_vector(const std::byte* row, std::size_t i, std::size_t left) {
  if constexpr (kHasTail<W>) {
    return left >= kLanes ? W::piece(row, i).part(0) : W::tail(row, i, left);
  } else {
    return W::piece(row, i / W::kPiece * W::kPiece).part(i % W::kPiece / kLanes);
  }
}

/// [rows, keys] of f32 or f16; empty if there is none.
class AttentionMask {
 public:
  explicit AttentionMask(const HostTensor& mask) : data_(mask.data) {
    if (mask) {
      const auto stride = static_cast<std::uint64_t>(mask.spec->strides[0]);
      row_bytes_ = static_cast<std::int64_t>(bytes_of(mask.dtype(), stride));
      columns_ = mask.shape().back();
      half_ = mask.dtype() == DType::f16;
    }
  }
  explicit operator bool() const { return data_ != nullptr; }

  /// Leaves out the keys at both ends of [first, end) that a row hides, padding for instance:
  /// nothing is computed for them.
  void trim(std::int64_t row, std::int64_t& first, std::int64_t& end) const {
    end = std::min(end, columns_);
    while (end > first && hides(row, end - 1)) {
      --end;
    }
    while (first < end && hides(row, first)) {
      ++first;
    }
    if (first >= end) {
      first = end = 0;
    }
  }
  /// Adds a row, times the slope, to the scores of keys [first, end).
  HWY_INLINE void add(std::int64_t row, float slope, std::int64_t first, std::int64_t end,
                      float* scores) const {
    half_ ? add_as<F16Weights>(row, slope, first, end, scores)
          : add_as<F32Weights>(row, slope, first, end, scores);
  }

 private:
  /// Of -infinity: the key does not count.
  bool hides(std::int64_t row, std::int64_t key) const {
    const std::byte* const values = data_ + row * row_bytes_;
    if (half_) {
      constexpr std::uint16_t kLowest = 0xFC00;
      std::uint16_t bits = 0;
      std::memcpy(&bits, values + key * std::int64_t{sizeof bits}, sizeof bits);
      return bits == kLowest;
    }
    float value = 0;
    std::memcpy(&value, values + key * std::int64_t{sizeof value}, sizeof value);
    return value == -std::numeric_limits<float>::infinity();
  }
  template <class W>
  HWY_INLINE void add_as(std::int64_t row, float slope, std::int64_t first, std::int64_t end,
                         float* scores) const {
    const F32 d;
    const Vf factor = hn::Set(d, slope);
    const Vf lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
    for (std::int64_t j = first; j < end; j += std::int64_t{kLanes}) {
      const auto left = static_cast<std::size_t>(end - j);
      const Vf value = value_vector<W>(data_ + row * row_bytes_, static_cast<std::size_t>(j), left);
      const Vf sum = hn::MulAdd(value, factor, load_up_to(d, scores + j, left));
      // A hidden key does not count, even if its score is NaN.
      store_up_to(d, hn::IfThenElse(hn::Eq(value, lowest), lowest, sum), scores + j, left);
    }
  }

  const std::byte* data_;
  std::int64_t row_bytes_ = 0, columns_ = 0;
  bool half_ = false;
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
