// get_rows: whole rows of a table, decoded where they are not f32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/get_rows.cpp"
#include <hwy/foreach_target.h>
#include <limits>

#include "backends/cpu/kernels/box-inl.h"
#include "backends/cpu/kernels/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct GetRows {
  const std::byte* table;
  const std::byte* ids;  // null: `id` alone
  float* y;
  std::int64_t table_rows, ids_per_table, cols;
  std::uint64_t row_bytes;
  Param<std::int32_t> id;
  bool wide_ids;    // i64
  Convert convert;  // null: rows are f32

  std::int64_t id_of(const Work& work, std::int64_t row) const {
    if (ids == nullptr) {
      return work.value(id);
    }
    return wide_ids ? reinterpret_cast<const std::int64_t*>(ids)[row]
                    : reinterpret_cast<const std::int32_t*>(ids)[row];
  }
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<GetRows>();
  for (std::int64_t row = first; row < end; ++row) {
    const std::int64_t id = a.id_of(work, row);
    float* const to = a.y + row * a.cols;
    if (id < 0 || id >= a.table_rows) {
      std::fill_n(to, a.cols, std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    const auto index = static_cast<std::uint64_t>(row / a.ids_per_table * a.table_rows + id);
    const std::byte* const from = a.table + index * a.row_bytes;
    if (a.convert == nullptr) {
      move_run(from, reinterpret_cast<std::byte*>(to), a.row_bytes);
    } else {
      a.convert(from, static_cast<std::size_t>(a.cols), reinterpret_cast<std::byte*>(to));
    }
  }
}

}  // namespace

bool plan_get_rows(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& table = call.tensors[0];
  const HostTensor& ids = call.tensors[1];
  const HostTensor& y = call.tensors[2];
  const std::int64_t cols = table.shape().back();
  const bool decodes = table.dtype() != DType::f32;
  const GetRows arguments{.table = table.data,
                          .ids = ids.data,
                          .y = reinterpret_cast<float*>(y.data),
                          .table_rows = table.shape().dim(table.shape().rank() - 2),
                          .ids_per_table = ids ? ids.shape().back() : 1,
                          .cols = cols,
                          .row_bytes = bytes_of(table.dtype(), static_cast<std::uint64_t>(cols)),
                          .id = attribute<Param<std::int32_t>>(call, "id"),
                          .wide_ids = ids && ids.dtype() == DType::i64,
                          .convert = decodes ? decode_to_f32(table.dtype()) : nullptr};
  plan.main = {.run = run,
               .items = y.shape().rows(),
               .item_ns = 20 + static_cast<double>(cols) * (decodes ? 0.5 : 0.25)};
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(get_rows)
#endif
