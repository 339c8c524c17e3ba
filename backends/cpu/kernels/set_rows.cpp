// set_rows: whole rows at once. It only moves bits, so it needs no vectors of its own.
#include <algorithm>

#include "backends/cpu/kernels/table_rows.h"
#include "framework/core/float16.h"

namespace reprise::cpu {
namespace {

struct SetRows {
  std::byte* table;
  const float* values;
  std::int64_t value_row;
  std::int64_t cols;
  TableRows rows;
  bool halves;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<SetRows>();
  for (std::int64_t r = first; r < end; ++r) {
    const std::int64_t target = a.rows.of(work, r);
    if (target < 0) {
      continue;
    }
    const float* from = a.values + r * a.value_row;
    if (a.halves) {
      auto* to = reinterpret_cast<std::uint16_t*>(a.table) + target * a.cols;
      std::transform(from, from + a.cols, to, f32_to_f16);
    } else {
      std::copy_n(from, a.cols, reinterpret_cast<float*>(a.table) + target * a.cols);
    }
  }
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
  const bool listed = static_cast<bool>(call.tensors[2]);
  const bool halves = table.dtype() == DType::f16;
  if (listed || values.shape().rank() < 2 || !dense_rows(*values.spec) ||
      (!halves && table.dtype() != DType::f32)) {
    return false;
  }
  const std::int64_t capacity = table.shape().dim(0);
  const SetRows arguments{.table = table.data,
                          .values = reinterpret_cast<const float*>(values.data),
                          .value_row = values.spec->strides[0],
                          .cols = table.shape().elements() / capacity,
                          .rows = {.rows = values.shape().dim(0),
                                   .capacity = capacity,
                                   .position = attribute<Param<std::int32_t>>(call, "position"),
                                   .window = attribute<Param<std::int32_t>>(call, "window")},
                          .halves = halves};
  plan.main.run = run;
  plan.main.items = values.shape().dim(0);
  plan.main.item_ns = static_cast<double>(arguments.cols) * (halves ? 2 : 0.25);
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu
