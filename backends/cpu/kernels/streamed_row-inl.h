// A row of results that need not stay in the cache, written a row later.
#include <hwy/cache_control.h>

#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_STREAMED_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_STREAMED_ROW_INL_H
#undef REPRISE_STREAMED_ROW_INL_H
#else
#define REPRISE_STREAMED_ROW_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// A row of shares that is written past the caches while the next row is computed: so nothing waits
/// for memory, and memory does not read what is written.
class StreamedRow {
 public:
  static constexpr std::int64_t kMostColumns = 4096;
  /// Where the exponentials of a row that goes to y are kept: as far behind a vector as y is.
  float* kept_for(const float* y) {
    turn_ = 1 - turn_;
    return room_[turn_] + behind_vector(y);
  }
  HWY_INLINE void begin(const float* kept, float* y, std::size_t cols, float share) {
    kept_ = kept;
    y_ = y;
    cols_ = cols;
    share_ = share;
    at_ = std::min((kLanes - behind_vector(y)) % kLanes, cols);
    store_up_to(F32(), part(0, at_), y, at_);
  }
  HWY_INLINE void write_vector() {
    if (at_ + kLanes <= cols_) {
      hn::Stream(part(at_, kLanes), F32(), y_ + at_);
      at_ += kLanes;
    }
  }
  HWY_INLINE void end() {
    while (at_ + kLanes <= cols_) {
      write_vector();
    }
    if (at_ < cols_) {
      store_part(F32(), part(at_, cols_ - at_), y_ + at_, cols_ - at_);
    }
    cols_ = at_ = 0;
  }
  /// Of a thread, before another one is told.
  static void flush() { hwy::FlushStream(); }

 private:
  static std::size_t behind_vector(const float* p) {
    return reinterpret_cast<std::uintptr_t>(p) / sizeof(float) % kLanes;
  }
  HWY_INLINE Vf part(std::size_t i, std::size_t left) const {
    return hn::Mul(load_up_to(F32(), kept_ + i, left), hn::Set(F32(), share_));
  }

  HWY_ALIGN float room_[2][static_cast<std::size_t>(kMostColumns) + kLanes];
  std::size_t turn_ = 0, at_ = 0, cols_ = 0;
  const float* kept_ = nullptr;
  float* y_ = nullptr;
  float share_ = 0;
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
