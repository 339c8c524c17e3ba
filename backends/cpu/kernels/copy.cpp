// copy: a box of elements if the dtype stays, else runs that are converted.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/copy.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/box-inl.h"
#include "backends/cpu/kernels/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kPiece = 4096;    // elements that are one item
constexpr std::int64_t kGathered = 512;  // elements that are brought together first, whole blocks

/// Pieces of rows that change their format.
struct Cast {
  const std::byte* x;
  std::byte* y;
  std::array<std::int64_t, 4> dims, strides;  // of x; strides in bytes of an element or block
  std::int64_t pieces;                        // of a row
  std::int64_t element_bytes;                 // of x
  DType from, to;
  bool gathers;  // elements of a row are no neighbours
  Convert convert;

  std::int64_t bytes_from(std::int64_t elements) const {
    return static_cast<std::int64_t>(bytes_of(from, static_cast<std::uint64_t>(elements)));
  }
  std::int64_t bytes_to(std::int64_t elements) const {
    return static_cast<std::int64_t>(bytes_of(to, static_cast<std::uint64_t>(elements)));
  }
};

void convert_gathered(const Cast& a, const std::byte* from, std::int64_t count, std::byte* to) {
  alignas(64) std::byte together[kGathered * sizeof(float)];
  for (std::int64_t done = 0; done < count; done += kGathered) {
    const std::int64_t some = std::min(count - done, kGathered);
    for (std::int64_t i = 0; i < some; ++i) {
      const std::byte* const element = from + (done + i) * a.strides[3];
      if (a.element_bytes == 4) {
        std::memcpy(together + i * 4, element, 4);
      } else {
        std::memcpy(together + i * 2, element, 2);
      }
    }
    a.convert(together, static_cast<std::size_t>(some), to + a.bytes_to(done));
  }
}

void run_cast(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Cast>();
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t row = item / a.pieces;
    const std::int64_t column = item % a.pieces * kPiece;
    const std::int64_t count = std::min(kPiece, a.dims[3] - column);
    const std::byte* from = a.x + row / a.dims[2] / a.dims[1] * a.strides[0] +
                            row / a.dims[2] % a.dims[1] * a.strides[1] +
                            row % a.dims[2] * a.strides[2];
    std::byte* const to = a.y + a.bytes_to(row * a.dims[3] + column);
    if (a.gathers) {
      convert_gathered(a, from + column * a.strides[3], count, to);
    } else {
      a.convert(from + a.bytes_from(column), static_cast<std::size_t>(count), to);
    }
  }
}

void run_copy(const Work& work, std::int64_t first, std::int64_t end) {
  move(work.as<Box>(), first, end);
}

bool plan_cast(const HostTensor& x, const HostTensor& y, KernelPlan& plan) {
  const Units units(x);
  Cast cast{
      .x = x.data,
      .y = y.data,
      .dims = x.shape().padded(),
      .strides = units.strides,
      .pieces = 1,
      .element_bytes = units.bytes,
      .from = x.dtype(),
      .to = y.dtype(),
      .gathers = units.dims[3] > 1 && units.strides[3] != units.bytes,
      .convert = x.dtype() == DType::f32 ? encode_from_f32(y.dtype()) : decode_to_f32(x.dtype())};
  if (cast.convert == nullptr) {
    return false;
  }
  if (x.spec->contiguous()) {
    cast.dims = {1, 1, 1, x.shape().elements()};
    cast.gathers = false;
  }
  cast.pieces = (cast.dims[3] + kPiece - 1) / kPiece;
  plan.main = {.run = run_cast,
               .items = cast.dims[0] * cast.dims[1] * cast.dims[2] * cast.pieces,
               .item_ns = 5 + static_cast<double>(std::min(cast.dims[3], kPiece)) *
                                  (cast.gathers ? 1 : 0.4)};
  plan.set_arguments(cast);
  return true;
}

}  // namespace

bool plan_copy(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& y = call.tensors[1];
  if (x.dtype() != y.dtype()) {
    return plan_cast(x, y, plan);
  }
  const Box box = box_of(x, y.data, Units(y));
  box.plan(run_copy, plan.main);
  plan.set_arguments(box);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(copy)
#endif
