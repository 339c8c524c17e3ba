// rope_set_rows: rows are rotated into the table, or beside it where they have to be rounded.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rope_set_rows.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/convert-inl.h"
#include "backends/cpu/kernels/rope-inl.h"
#include "backends/cpu/kernels/table_rows.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct RopeToTable {
  Rope rope;
  TableRows rows;
  std::byte* table;
  bool halves;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<RopeToTable>();
  const RowRotation rotation(work, a.rope);
  const std::int64_t cols = a.rope.heads * a.rope.cols;
  auto* rotated = reinterpret_cast<float*>(work.own + RowRotation::own_bytes(a.rope));
  for (std::int64_t row = first; row < end; ++row) {
    const std::int64_t target = a.rows.of(work, row);
    if (target < 0) {
      continue;
    }
    if (a.halves) {
      rotation.rotate_row(row, rotated);
      encode_halves<ToF16>(
          reinterpret_cast<const std::byte*>(rotated), static_cast<std::size_t>(cols),
          a.table + target * cols * static_cast<std::int64_t>(sizeof(std::uint16_t)));
    } else {
      rotation.rotate_row(row, reinterpret_cast<float*>(a.table) + target * cols);
    }
  }
}

/// Rows may meet: one thread writes them all.
void run_all(const Work& work, std::int64_t /*first*/, std::int64_t /*end*/) {
  run(work, 0, work.as<RopeToTable>().rows.rows);
}

}  // namespace

bool plan_rope_set_rows(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& table = call.tensors[0];
  const HostTensor& x = call.tensors[1];
  const HostTensor& ids = call.tensors[4];
  const RopeToTable arguments{
      .rope = rope_of(call, 1),
      .rows = {.rows = x.shape().dim(0),
               .capacity = table.shape().dim(0),
               .position = attribute<Param<std::int32_t>>(call, "row_position"),
               .window = attribute<Param<std::int32_t>>(call, "window"),
               .ids = ids.data,
               .wide_ids = ids && ids.dtype() == DType::i64},
      .table = table.data,
      .halves = table.dtype() == DType::f16};
  const std::int64_t cols = arguments.rope.heads * arguments.rope.cols;
  const double row_ns =
      RowRotation::row_ns(arguments.rope) + (arguments.halves ? static_cast<double>(cols) / 4 : 0);
  if (ids) {
    plan.main = {
        .run = run_all, .items = 1, .item_ns = row_ns * static_cast<double>(arguments.rows.rows)};
  } else {
    plan.main = {.run = run, .items = arguments.rows.rows, .item_ns = row_ns};
  }
  plan.own_bytes =
      RowRotation::own_bytes(arguments.rope) + static_cast<std::uint64_t>(cols) * sizeof(float);
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(rope_set_rows)
#endif
