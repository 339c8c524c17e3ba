// set_rows: whole rows, converted to the format of the table.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/set_rows.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/box-inl.h"
#include "backends/cpu/kernels/convert-inl.h"
#include "backends/cpu/kernels/table_rows.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct SetRows {
  std::byte* table;
  const float* values;  // or i32
  std::int64_t value_row;
  std::size_t cols;
  std::uint64_t row_bytes;  // of the table
  TableRows rows;
  Convert convert;  // null: rows are copied
};

void set_rows(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<SetRows>();
  for (std::int64_t r = first; r < end; ++r) {
    const std::int64_t target = a.rows.of(work, r);
    if (target < 0) {
      continue;
    }
    const auto* const from = reinterpret_cast<const std::byte*>(a.values + r * a.value_row);
    std::byte* const to = a.table + static_cast<std::uint64_t>(target) * a.row_bytes;
    if (a.convert == nullptr) {
      move_run(from, to, a.row_bytes);
    } else {
      a.convert(from, a.cols, to);
    }
  }
}

/// Rows may meet: one thread writes them all.
void set_all_rows(const Work& work, std::int64_t /*first*/, std::int64_t /*end*/) {
  set_rows(work, 0, work.as<SetRows>().rows.rows);
}

/// Whether the elements of one index of the first dimension lie one after another.
bool dense_rows(const TensorSpec& spec) {
  std::int64_t step = 1;
  for (std::size_t i = spec.shape.rank(); i-- > 1;) {
    if (spec.shape.dim(i) != 1 && spec.strides[i] != step) {
      return false;
    }
    step *= spec.shape.dim(i);
  }
  return true;
}

}  // namespace

bool plan_set_rows(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& table = call.tensors[0];
  const HostTensor& values = call.tensors[1];
  const HostTensor& ids = call.tensors[2];
  const std::int64_t capacity = table.shape().dim(0);
  if (values.shape().rank() < 2 || !dense_rows(*values.spec) || capacity == 0) {
    return false;
  }
  const auto cols = static_cast<std::uint64_t>(table.shape().elements() / capacity);
  const SetRows arguments{.table = table.data,
                          .values = reinterpret_cast<const float*>(values.data),
                          .value_row = values.spec->strides[0],
                          .cols = cols,
                          .row_bytes = bytes_of(table.dtype(), cols),
                          .rows = {.rows = values.shape().dim(0),
                                   .capacity = capacity,
                                   .position = attribute<Param<std::int32_t>>(call, "position"),
                                   .window = attribute<Param<std::int32_t>>(call, "window"),
                                   .ids = ids.data,
                                   .wide_ids = ids && ids.dtype() == DType::i64},
                          .convert = encode_from_f32(table.dtype())};
  const double row_ns = static_cast<double>(cols) * (arguments.convert == nullptr ? 0.25 : 0.5);
  if (ids) {
    plan.main = {.run = set_all_rows,
                 .items = 1,
                 .item_ns = row_ns * static_cast<double>(arguments.rows.rows)};
  } else {
    plan.main = {.run = set_rows, .items = arguments.rows.rows, .item_ns = row_ns};
  }
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(set_rows)
#endif
