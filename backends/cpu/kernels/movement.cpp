// concat, pad, repeat: boxes of elements of any dtype.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/movement.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/box-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Concat {
  Box a, b;
};

template <Box Concat::*kPart>
void run_part(const Work& work, std::int64_t first, std::int64_t end) {
  move(work.as<Concat>().*kPart, first, end);
}

using Rows3 = std::array<std::int64_t, 3>;

struct Pad {
  Box box;  // of x, into y
  const std::byte* x;
  std::byte* y;
  Rows3 dims, begin, end;  // rows of y, those that have a row of x
  Rows3 strides;           // of rows of x
  std::size_t row_bytes, bytes_before, bytes_after;
};

void run_box(const Work& work, std::int64_t first, std::int64_t end) {
  move(*static_cast<const Box*>(work.arguments), first, end);
}

/// A few zeros, without a call where they are words.
HWY_INLINE void write_zeros(std::byte* to, std::size_t bytes) {
  const F32 d;
  const std::size_t words = bytes / sizeof(float);
  if (words <= kLanes && bytes % sizeof(float) == 0) {
    store_part(d, hn::Zero(d), reinterpret_cast<float*>(to), words);
  } else {
    std::memset(to, 0, bytes);
  }
}

/// The zeros of rows of y and, if kNeighbours, what x has between them.
template <bool kNeighbours>
void run_rows(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Pad>();
  for (std::int64_t row = first; row < end; ++row) {
    const Rows3 at{row / a.dims[2] / a.dims[1], row / a.dims[2] % a.dims[1], row % a.dims[2]};
    bool inside = true;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      inside = inside && at[i] >= a.begin[i] && at[i] < a.end[i];
      from += (at[i] - a.begin[i]) * a.strides[i];
    }
    std::byte* const to = a.y + static_cast<std::size_t>(row) * a.row_bytes;
    if (!inside) {
      std::memset(to, 0, a.row_bytes);
      continue;
    }
    write_zeros(to, a.bytes_before);
    const std::size_t behind = a.row_bytes - a.bytes_after;
    if constexpr (kNeighbours) {
      move_run(a.x + from, to + a.bytes_before, behind - a.bytes_before);
    }
    write_zeros(to + behind, a.bytes_after);
  }
}

}  // namespace

bool plan_concat(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& a = call.tensors[0];
  const HostTensor& y = call.tensors[2];
  const auto dim = Shape::kMaxRank - a.shape().rank() +
                   static_cast<std::size_t>(attribute<std::int32_t>(call, "dim"));
  const Units units(y);
  std::byte* const behind = y.data + Units(a).dims[dim] * units.strides[dim];
  const Concat concat{.a = box_of(a, y.data, units), .b = box_of(call.tensors[1], behind, units)};
  concat.a.plan(run_part<&Concat::a>, plan.prepare);
  concat.b.plan(run_part<&Concat::b>, plan.main);
  plan.set_arguments(concat);
  return true;
}

bool plan_pad(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& y = call.tensors[1];
  const Units to(y);
  const Units from(x);
  const std::size_t rank = x.shape().rank();
  const auto before_of = [&](std::size_t i) -> std::int64_t {
    if (i + rank < Shape::kMaxRank) {
      return 0;
    }
    const char name[] = {
        'b', 'e', 'f', 'o', 'r', 'e', static_cast<char>('0' + i + rank - Shape::kMaxRank)};
    return attribute<std::int32_t>(call, {name, sizeof name});
  };
  const std::int64_t before = before_of(3) / info_of(x.dtype()).block_elements;
  Rows3 begin{}, end{};
  std::byte* origin = y.data + before * to.bytes;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    begin[i] = before_of(i);
    end[i] = begin[i] + from.dims[i];
    origin += begin[i] * to.strides[i];
  }
  const auto bytes = [&](std::int64_t units) { return static_cast<std::size_t>(units * to.bytes); };
  const Pad pad{.box = box_of(x, origin, to),
                .x = x.data,
                .y = y.data,
                .dims = {to.dims[0], to.dims[1], to.dims[2]},
                .begin = begin,
                .end = end,
                .strides = {from.strides[0], from.strides[1], from.strides[2]},
                .row_bytes = bytes(to.dims[3]),
                .bytes_before = bytes(before),
                .bytes_after = bytes(to.dims[3] - from.dims[3] - before)};
  // Threads share the columns of long rows, between which zeros are rare.
  constexpr std::size_t kShort = 4096;
  if (from.strides[3] == from.bytes && pad.row_bytes <= kShort) {
    plan.main = {.run = run_rows<true>,
                 .items = y.shape().rows(),
                 .item_ns = 10 + static_cast<double>(pad.row_bytes) / 16};
  } else {
    plan.prepare = {.run = run_rows<false>,
                    .items = y.shape().rows(),
                    .item_ns = 10 + static_cast<double>(pad.bytes_before + pad.bytes_after) / 16};
    pad.box.plan(run_box, plan.main);
  }
  plan.set_arguments(pad);
  return true;
}

bool plan_repeat(const KernelCall& call, KernelPlan& plan) {
  const Units from(call.tensors[0]);
  const Units to(call.tensors[1]);
  std::array<BoxDim, Box::kMaxDims> dims{};
  for (std::size_t i = 0; i < from.dims.size(); ++i) {
    const std::int64_t times = from.dims[i] == 0 ? 0 : to.dims[i] / from.dims[i];
    dims[2 * i] = {times, 0, from.dims[i] * to.strides[i]};
    dims[2 * i + 1] = {from.dims[i], from.strides[i], to.strides[i]};
  }
  const Box box(call.tensors[0].data, call.tensors[1].data, from.bytes, dims);
  box.plan(run_box, plan.main);
  plan.set_arguments(box);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(concat)
REPRISE_EXPORT_KERNEL(pad)
REPRISE_EXPORT_KERNEL(repeat)
#endif
