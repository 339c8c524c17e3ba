// conv_1d, conv_2d: products of weights with panels of windows. A panel has two vectors of places
// as columns and is filled from x itself, or from a copy with its padding; there is no matrix of
// all windows. After Chellapilla, Puri, Simard, "High performance convolutional neural networks for
// document processing", 2006.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/conv.cpp"
#include <hwy/foreach_target.h>
#include <limits>

#include "backends/cpu/kernels/conv-inl.h"
#include "backends/cpu/kernels/panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

/// Panels that share a slice of the weights while it is in the second-level cache.
constexpr std::size_t kMaxPanels = 4;
/// Windows are packed by the places of their columns within an image.
constexpr std::int64_t kMostPlaces = std::numeric_limits<std::int32_t>::max();
/// From as many outputs of a group on, filling a panel is repaid.
constexpr std::int64_t kFewOutputs = 4;

/// Where the windows of a panel begin.
struct Places {
  Places(const Conv& a, std::int64_t first, std::int64_t end) {
    for (std::size_t i = 0; i < kPanelColumns; ++i) {
      const std::int64_t place = std::min(first + static_cast<std::int64_t>(i), end - 1);
      at[i] = static_cast<std::int32_t>(place / a.out_columns * a.down.stride * a.whole.strides[2] +
                                        place % a.out_columns * a.right.stride);
    }
    for (std::size_t half = 0; half < 2; ++half) {
      const std::int32_t* const of_half = at + half * kLanes;
      steps[half] = of_half[1] - of_half[0];
      for (std::size_t i = 1; i < kLanes; ++i) {
        if (of_half[i] - of_half[i - 1] != steps[half]) {
          steps[half] = 0;
        }
      }
    }
  }
  alignas(64) std::int32_t at[kPanelColumns];
  std::int32_t steps[2];  // from one window of a vector to the next; 0: they differ
};

/// Every second element from `x` on. Reads none behind the last of them.
HWY_INLINE Vf every_second(const float* x) {
  const F32 d;
  const Vf low = hn::LoadU(d, x);
  const Vf high = hn::LoadU(d, x + kLanes - 1);
  return hn::ConcatUpperLower(d, hn::ConcatOdd(d, high, high), hn::ConcatEven(d, low, low));
}

/// pack_windows() where a row of a window is whole vectors of neighbours: they are transposed.
HWY_NOINLINE void pack_whole_rows(const Conv& a, const float* x, const Places& places,
                                  std::int64_t first, std::int64_t depth, float* panel) {
  constexpr std::int64_t kStep = kLanes;
  for (std::int64_t k = first; k < first + depth; k += kStep, panel += kStep * kPanelColumns) {
    const std::int64_t row = k / a.right.taps;
    const float* const from =
        x + a.tap(row / a.down.taps, row % a.down.taps, k - row * a.right.taps);
    const auto of = [&](std::size_t window)
                        REPRISE_INLINED { return hn::LoadU(F32(), from + places.at[window]); };
    for (std::size_t i = 0; i < kPanelColumns; i += 4) {
      pack_four(of(i), of(i + 1), of(i + 2), of(i + 3), panel + i);
    }
  }
}

/// Taps [first, first + depth) of the windows of a panel; `x`: the first channel of the group.
HWY_NOINLINE void pack_windows(const Conv& a, const float* x, const Places& places,
                               std::int64_t first, std::int64_t depth, float* panel) {
  if (a.right.stride > 2 && a.right.dilation == 1 && a.right.taps % std::int64_t{kLanes} == 0) {
    pack_whole_rows(a, x, places, first, depth, panel);
    return;
  }
  const F32 d;
  const hn::Rebind<std::int32_t, F32> words;
  const hn::Vec<decltype(words)> at[2] = {hn::Load(words, places.at),
                                          hn::Load(words, places.at + kLanes)};
  std::int64_t tx = first % a.right.taps;
  std::int64_t ty = first / a.right.taps % a.down.taps;
  std::int64_t channel = first / a.right.taps / a.down.taps;
  for (std::int64_t k = 0; k < depth; ++k, panel += kPanelColumns) {
    const float* const tap = x + a.tap(channel, ty, tx);
#pragma GCC unroll 2
    for (std::size_t half = 0; half < 2; ++half) {
      const float* const from = tap + places.at[half * kLanes];
      const Vf v = places.steps[half] == 1   ? hn::LoadU(d, from)
                   : places.steps[half] == 2 ? every_second(from)
                                             : hn::GatherIndex(d, tap, at[half]);
      hn::Store(v, d, panel + half * kLanes);
    }
    if (++tx == a.right.taps) {
      tx = 0;
      if (++ty == a.down.taps) {
        ty = 0;
        ++channel;
      }
    }
  }
}

/// Rows [first_row, end_row) of the outputs of a group, for the panels from `place` on.
void multiply_strip(const Conv& a, const float* x, const float* w, float* y, std::int64_t place,
                    std::size_t first_row, std::size_t end_row, float* panels) {
  constexpr std::size_t kFloats = kPanelDepth * kPanelColumns;
  constexpr std::int64_t kColumns{kPanelColumns};
  constexpr std::int64_t kDepth{kPanelDepth};
  const auto depth = static_cast<std::size_t>(a.depth);
  const auto y_row = static_cast<std::size_t>(a.places);
  for (std::int64_t k = 0; k < a.depth; k += kDepth) {
    const std::int64_t this_depth = std::min(kDepth, a.depth - k);
    for (std::int64_t p = 0; p < a.panels && place + p * kColumns < a.places; ++p) {
      const std::int64_t column = place + p * kColumns;
      const auto columns = static_cast<std::size_t>(std::min(kColumns, a.places - column));
      float* const panel = panels + static_cast<std::size_t>(p) * kFloats;
      pack_windows(a, x, Places(a, column, a.places), k, this_depth, panel);
      for (std::size_t row = first_row; row < end_row; row += kTileHeight) {
        const std::size_t rows = std::min(kTileHeight, end_row - row);
        tile_function(rows, columns)(w + row * depth + k, depth, panel,
                                     static_cast<std::size_t>(this_depth), y + row * y_row + column,
                                     y_row, columns, k != 0);
      }
    }
  }
}

/// Items are strips of panels, of blocks of outputs, of groups, of the batch, from fast to slow.
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Conv>();
  const auto outputs = static_cast<std::size_t>(a.outputs);
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t strip = item % a.strips;
    const auto block = static_cast<std::size_t>(item / a.strips % a.row_blocks);
    const std::int64_t of_batch = item / a.strips / a.row_blocks;
    const std::int64_t group = of_batch % a.groups;
    const float* const x = a.group(work, of_batch);
    const float* const w = a.weights(work) + group * a.outputs * a.depth;
    float* const y = a.y + of_batch * a.outputs * a.places;
    const std::int64_t columns = a.panels * std::int64_t{kPanelColumns};
    const std::size_t end_row = std::min(outputs, (block + 1) * kRowBlock);
    multiply_strip(a, x, w, y, strip * columns, block * kRowBlock, end_row,
                   reinterpret_cast<float*>(work.own));
    for (auto row = static_cast<std::int64_t>(block * kRowBlock);
         a.padded && row < static_cast<std::int64_t>(end_row); ++row) {
      if (a.not_finite(work, group * a.outputs + row) != std::byte{0}) {
        const std::int64_t end_place = std::min((strip + 1) * columns, a.places);
        for (std::int64_t place = strip * columns; place < end_place; ++place) {
          y[row * a.places + place] =
              result_of(a, x, w + row * a.depth, place, std::int64_t{kPanelDepth});
        }
      }
    }
  }
}

/// Vectors of a row of y, each a sum of its own: additions of one sum wait for each other.
constexpr std::size_t kMaxSums = 4;

/// The last vector has `left` elements.
template <std::size_t kSums>
void sum_taps(const Conv& a, const float* x, const float* weight, std::size_t left, float* y) {
  const F32 d;
  const std::size_t last = (kSums - 1) * kLanes;
  Vf sums[kSums];
  std::fill(std::begin(sums), std::end(sums), hn::Zero(d));
  for (std::int64_t c = 0; c < a.channels; ++c) {
    for (std::int64_t ty = 0; ty < a.down.taps; ++ty) {
      const float* tap = x + a.tap(c, ty, 0);
      for (std::int64_t tx = 0; tx < a.right.taps; ++tx, tap += a.right.dilation) {
        const Vf w = hn::Set(d, *weight++);
        for (std::size_t s = 0; s + 1 < kSums; ++s) {
          sums[s] = hn::MulAdd(w, hn::LoadU(d, tap + s * kLanes), sums[s]);
        }
        sums[kSums - 1] = hn::MulAdd(w, load_up_to(d, tap + last, left), sums[kSums - 1]);
      }
    }
  }
  for (std::size_t s = 0; s + 1 < kSums; ++s) {
    hn::StoreU(sums[s], d, y + s * kLanes);
  }
  store_up_to(d, sums[kSums - 1], y + last, left);
}
constexpr decltype(&sum_taps<1>) kSumTaps[kMaxSums] = {sum_taps<1>, sum_taps<2>, sum_taps<3>,
                                                       sum_taps<4>};

/// Items are rows of y: few outputs of a group, so that every tap is one product with neighbours.
void run_direct(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Conv>();
  const std::int64_t rows = a.places / a.out_columns;
  const auto columns = static_cast<std::size_t>(a.out_columns);
  for (std::int64_t item = first; item < end;) {
    const std::int64_t output = item / rows;  // of all groups and batches
    const std::int64_t of_batch = output / a.outputs;
    const float* const group = a.group(work, of_batch);
    const std::int64_t among_outputs = of_batch % a.groups * a.outputs + output % a.outputs;
    const float* const w = a.weights(work) + among_outputs * a.depth;
    const bool finite = !a.padded || a.not_finite(work, among_outputs) == std::byte{0};
    for (; item < std::min(end, (output + 1) * rows); ++item) {
      const std::int64_t row = item - output * rows;
      const float* const x = group + row * a.down.stride * a.whole.strides[2];
      float* const y = a.y + item * a.out_columns;
      for (std::int64_t i = 0; !finite && i < a.out_columns; ++i) {
        y[i] = result_of(a, group, w, row * a.out_columns + i, a.depth);
      }
      for (std::size_t i = 0; finite && i < columns; i += kMaxSums * kLanes) {
        const std::size_t sums = std::min((columns - i + kLanes - 1) / kLanes, kMaxSums);
        const std::size_t left = std::min(columns - i - (sums - 1) * kLanes, kLanes);
        kSumTaps[sums - 1](a, x + i, w, left, y + i);
      }
    }
  }
}

std::array<std::int64_t, 4> as_image(std::array<std::int64_t, 4> of_four, std::int64_t row,
                                     bool flat) {
  return flat ? std::array{of_four[1], of_four[2], row, of_four[3]} : of_four;
}

bool plan_image(const KernelCall& call, bool flat, Axis down, Axis right, KernelPlan& plan) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& w = call.tensors[1];
  const auto taps = as_image(w.shape().padded(), 1, flat);
  const auto to = as_image(call.tensors[2].shape().padded(), 1, flat);
  down.taps = taps[2];
  right.taps = taps[3];
  Conv conv{};
  conv.x = reinterpret_cast<const float*>(x.data);
  conv.w = w.data;
  conv.y = reinterpret_cast<float*>(call.tensors[2].data);
  conv.from = {as_image(x.shape().padded(), 1, flat), as_image(padded_strides(x), 0, flat)};
  conv.down = down;
  conv.right = right;
  conv.out_columns = to[3];
  conv.places = to[2] * to[3];
  conv.groups = attribute<std::int32_t>(call, "groups");
  conv.outputs = to[1] / conv.groups;
  conv.channels = taps[1];
  conv.depth = taps[1] * taps[2] * taps[3];
  conv.halves = w.dtype() == DType::f16;
  conv.padded = down.padding > 0 || right.padding > 0;
  conv.copies = conv.padded || conv.from.strides[3] != 1;
  conv.whole = conv.from;
  if (conv.copies) {
    auto& dims = conv.whole.dims;
    dims[2] += 2 * down.padding;
    dims[3] += 2 * right.padding;
    if (dims[2] > 0 && dims[3] > kMostPlaces / dims[2]) {
      return false;
    }
    conv.whole.strides = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    conv.copy_bytes = static_cast<std::uint64_t>(dims[0] * conv.whole.strides[0]) * sizeof(float);
    conv.copy_bytes = (conv.copy_bytes + 63) / 64 * 64;
  }
  if (conv.depth == 0 || conv.from.dims[2] == 0 || conv.from.dims[3] == 0 ||
      (conv.whole.dims[2] - 1) * conv.whole.strides[2] + conv.whole.dims[3] > kMostPlaces) {
    return false;
  }
  const std::int64_t panels =
      (conv.places + std::int64_t{kPanelColumns} - 1) / std::int64_t{kPanelColumns};
  conv.panels = std::clamp<std::int64_t>(panels / 8, 1, kMaxPanels);
  conv.strips = (panels + conv.panels - 1) / conv.panels;
  conv.row_blocks = (conv.outputs + std::int64_t{kRowBlock} - 1) / std::int64_t{kRowBlock};
  const std::int64_t outputs = conv.halves || conv.padded ? to[1] : 0;
  const std::int64_t prepared = outputs + (conv.copies ? conv.rows_of_x() : 0);
  conv.weight_bytes =
      conv.halves ? static_cast<std::uint64_t>(to[1] * conv.depth) * sizeof(float) : 0;
  if (prepared > 0) {
    const std::int64_t widest = std::max(outputs > 0 ? conv.depth : 0, conv.whole.dims[3]);
    plan.prepare = {.run = run_prepare_conv,
                    .items = prepared,
                    .item_ns = 10 + static_cast<double>(widest) / 4};
  }
  plan.shared_bytes = conv.copy_bytes + conv.weight_bytes + static_cast<std::uint64_t>(to[1]);
  plan.own_bytes =
      static_cast<std::uint64_t>(conv.panels) * kPanelDepth * kPanelColumns * sizeof(float);
  const auto columns = static_cast<double>(conv.panels) * static_cast<double>(kPanelColumns);
  const auto rows = static_cast<double>(conv.outputs) / static_cast<double>(conv.row_blocks);
  plan.main = {.run = run,
               .items = to[0] * conv.groups * conv.row_blocks * conv.strips,
               .item_ns = 20 + static_cast<double>(conv.depth) * columns * (rows + 4) / 50};
  if (conv.outputs < kFewOutputs && right.stride == 1) {
    plan.own_bytes = 0;
    plan.main = {.run = run_direct,
                 .items = to[0] * to[1] * to[2],
                 .item_ns = 20 + static_cast<double>(conv.depth * conv.out_columns) / 8};
  }
  plan.set_arguments(conv);
  return true;
}

}  // namespace

bool plan_conv_1d(const KernelCall& call, KernelPlan& plan) {
  const auto number = [&](const char* name) { return attribute<std::int32_t>(call, name); };
  return plan_image(call, true, {0, 1, 0, 1},
                    {0, number("stride"), number("padding"), number("dilation")}, plan);
}

bool plan_conv_2d(const KernelCall& call, KernelPlan& plan) {
  const auto number = [&](const char* name) { return attribute<std::int32_t>(call, name); };
  return plan_image(call, false, {0, number("stride_y"), number("padding_y"), number("dilation_y")},
                    {0, number("stride_x"), number("padding_x"), number("dilation_x")}, plan);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(conv_1d)
REPRISE_EXPORT_KERNEL(conv_2d)
#endif
