// top_k: one pass over a row, then the order of what it left.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/top_k.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_pieces.h"
#include "backends/cpu/kernels/selection-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct TopK {
  Rows x;
  std::int32_t* ids;
  std::size_t k, room;
};

Largest of_row(const TopK& a, std::int64_t row, std::span<Rank> room) {
  const float* x = a.x.row(row, a.x.dims);
  if (a.x.strides[3] == 1) {
    return largest_of({x, static_cast<std::size_t>(a.x.dims[3])}, a.k, room);
  }
  Largest largest(room, a.k);
  for_each_piece(x, a.x.strides[3], a.x.dims[3],
                 [&](const float* piece, std::int64_t at, std::int64_t count) HWY_ATTR {
                   add_elements(piece, static_cast<std::size_t>(at),
                                static_cast<std::size_t>(count), largest);
                 });
  return largest;
}

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<TopK>();
  const std::span room(reinterpret_cast<Rank*>(work.own), a.room);
  for (std::int64_t row = first; row < end; ++row) {
    Largest largest = of_row(a, row, room);
    std::int32_t* to = a.ids + static_cast<std::size_t>(row) * a.k;
    for (const Rank rank : largest.sorted()) {
      *to++ = static_cast<std::int32_t>(column_of(rank));
    }
  }
}

}  // namespace

bool plan_top_k(const KernelCall& call, KernelPlan& plan) {
  const auto k = static_cast<std::size_t>(attribute<std::int32_t>(call, "k"));
  TopK top{.x = Rows(call.tensors[0]),
           .ids = reinterpret_cast<std::int32_t*>(call.tensors[1].data),
           .k = k,
           .room = 0};
  const auto columns = static_cast<std::size_t>(top.x.dims[3]);
  top.room = Largest::room_for(k, columns);
  plan.main = {
      .run = run,
      .items = call.tensors[0].shape().rows(),
      .item_ns = 100 + static_cast<double>(columns) * 0.2 + static_cast<double>(top.room) * 10};
  plan.own_bytes = top.room * sizeof(Rank);
  plan.set_arguments(top);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(top_k)
#endif
