// A convolution as its kernels see it: numbers of the call, and what is prepared for it, a copy of
// x with its padding and weights in f32.
#include "backends/cpu/kernels/convert-inl.h"
#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"
#include "backends/cpu/kernels/row_pieces.h"

#if defined(REPRISE_CONV_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_CONV_INL_H
#undef REPRISE_CONV_INL_H
#else
#define REPRISE_CONV_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

struct Axis {
  std::int64_t taps, stride, padding, dilation;
};

/// [batch, channels, rows, columns], and elements between indices.
struct Image {
  std::array<std::int64_t, 4> dims, strides;
};

struct Conv {
  const float* x;
  const std::byte* w;
  float* y;
  Image from;   // x
  Image whole;  // with the padding: x itself, or its copy
  bool copies, halves, padded;
  Axis down, right;
  std::int64_t out_columns, places;               // of a channel of y
  std::int64_t groups, outputs, channels, depth;  // of a group; the depth is all its taps
  std::int64_t panels, strips, row_blocks;        // panels of a strip
  std::uint64_t copy_bytes, weight_bytes;         // of what is prepared

  std::int64_t rows_of_x() const { return from.dims[0] * from.dims[1] * from.dims[2]; }
  const float* image(const Work& work) const {
    return copies ? reinterpret_cast<const float*>(work.shared) : x;
  }
  /// The first channel of a group; groups of all batches one after another.
  const float* group(const Work& work, std::int64_t index) const {
    return image(work) + index / groups * whole.strides[0] +
           index % groups * channels * whole.strides[1];
  }
  /// From the place where a window begins to one of its taps.
  std::int64_t tap(std::int64_t channel, std::int64_t ty, std::int64_t tx) const {
    return channel * whole.strides[1] + ty * down.dilation * whole.strides[2] + tx * right.dilation;
  }
  const float* weights(const Work& work) const {
    return halves ? reinterpret_cast<const float*>(work.shared + copy_bytes)
                  : reinterpret_cast<const float*>(w);
  }
  /// Of an output among all groups: not 0 if some weight is infinite or NaN. With padding alone.
  std::byte& not_finite(const Work& work, std::int64_t output) const {
    return work.shared[copy_bytes + weight_bytes + static_cast<std::uint64_t>(output)];
  }
};

inline void copy_row(const Conv& a, std::int64_t index, float* whole) {
  const auto& dims = a.from.dims;
  const auto& strides = a.from.strides;
  const std::int64_t row = index % dims[2];
  const std::int64_t channel = index / dims[2];  // of all batches
  const float* const from =
      a.x + channel / dims[1] * strides[0] + channel % dims[1] * strides[1] + row * strides[2];
  float* const plane = whole + channel * a.whole.strides[1];
  const std::int64_t columns = a.whole.dims[3];
  float* const to = plane + (row + a.down.padding) * columns;
  const auto zero_rows = [&](std::int64_t first, std::int64_t end) {
    std::fill(plane + first * columns, plane + end * columns, 0.0F);
  };
  if (row == 0) {
    zero_rows(0, a.down.padding);
  }
  if (row + 1 == dims[2]) {
    zero_rows(a.down.padding + dims[2], a.whole.dims[2]);
  }
  std::fill_n(to, a.right.padding, 0.0F);
  for_each_piece(from, strides[3], dims[3],
                 [&](const float* piece, std::int64_t at, std::int64_t count) {
                   std::copy_n(piece, count, to + a.right.padding + at);
                 });
  std::fill_n(to + a.right.padding + dims[3], a.right.padding, 0.0F);
}

/// Items are rows of x, then the weights of every output.
inline void run_prepare_conv(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Conv>();
  const std::int64_t rows = a.copies ? a.rows_of_x() : 0;
  const auto depth = static_cast<std::size_t>(a.depth);
  for (std::int64_t item = first; item < end; ++item) {
    if (item < rows) {
      copy_row(a, item, reinterpret_cast<float*>(work.shared));
      continue;
    }
    const std::int64_t output = item - rows;
    const auto element = static_cast<std::size_t>(output) * depth;
    if (a.halves) {
      decode_run<F16Weights>(a.w + element * sizeof(std::uint16_t), depth,
                             work.shared + a.copy_bytes + element * sizeof(float));
    }
    if (a.padded) {
      const float* const w = a.weights(work) + element;
      const float zero = fold<FoldSum>(depth, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
        const Vf v = load_up_to(F32(), w + i, left);
        return hn::Sub(v, v);
      });
      a.not_finite(work, output) = std::byte{zero != 0};
    }
  }
}

/// One result in the order of the fast ways, which add up parts of `part` taps. No tap on the
/// padding counts, with any weight.
inline float result_of(const Conv& a, const float* x, const float* w, std::int64_t place,
                       std::int64_t part) {
  const F32 d;
  const std::int64_t top = place / a.out_columns * a.down.stride;
  const std::int64_t left = place % a.out_columns * a.right.stride;
  const auto inside = [](std::int64_t at, const Axis& axis, std::int64_t length) {
    return at >= axis.padding && at < axis.padding + length;
  };
  Vf all = hn::Zero(d);
  Vf sum = hn::Zero(d);
  for (std::int64_t k = 0; k < a.depth; ++k) {
    const std::int64_t tx = k % a.right.taps;
    const std::int64_t ty = k / a.right.taps % a.down.taps;
    const std::int64_t row = top + ty * a.down.dilation;
    const std::int64_t column = left + tx * a.right.dilation;
    if (k % part == 0) {
      all = hn::Add(all, sum);
      sum = hn::Zero(d);
    }
    if (inside(row, a.down, a.from.dims[2]) && inside(column, a.right, a.from.dims[3])) {
      const std::int64_t channel = k / a.right.taps / a.down.taps;
      const float* const tap = x + channel * a.whole.strides[1] + row * a.whole.strides[2] + column;
      sum = hn::MulAdd(hn::Set(d, w[k]), hn::Set(d, *tap), sum);
    }
  }
  return hn::GetLane(hn::Add(all, sum));
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
