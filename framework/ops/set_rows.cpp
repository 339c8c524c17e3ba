#include "reprise/ops/set_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "framework/core/record.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "reprise/core/encode.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {
    {"table", Access::read_write,
     accepts({DType::f32, DType::f16, DType::i32, DType::q8_0, DType::q4_0})},
    {"values", Access::read, accepts({DType::f32, DType::i32}), false, Layout::any},
    {"ids", Access::read, accepts({DType::i32, DType::i64}), true}};
constexpr Attribute kAttributes[] = {
    {"position", AttributeType::param_i32, offsetof(SetRowsAttributes, position)},
    {"window", AttributeType::param_i32, offsetof(SetRowsAttributes, window)}};
constexpr std::string_view kShaders[] = {"set_rows.f32",       "set_rows.f16",
                                         "set_rows.q8_0",      "set_rows.q4_0",
                                         "set_rows.lanes_f32", "set_rows.lanes_f16"};

// Mirrors the push block of shaders/set_rows.comp.
struct Push {
  std::array<std::uint32_t, 4> shape;  // of values
  View values;
  Param<std::int32_t> rows;
  std::uint32_t cols;
  std::uint32_t capacity;
  std::uint32_t table_offset;
  std::uint32_t ids_offset;
  std::uint32_t id_words;  // 0: no ids operand
  Param<std::int32_t> position;
  Param<std::int32_t> window;
};

std::int64_t row_elements(const Shape& shape) {
  std::int64_t product = 1;
  for (std::size_t i = 1; i < shape.rank(); ++i) {
    product *= shape.dim(i);
  }
  return product;
}

void require_window(const OpCall& call, std::int64_t rows, std::int64_t capacity) {
  const Param<std::int32_t>& given = call.as<SetRowsAttributes>().window;
  const std::int64_t window = given.value;
  if (given.dynamic()) {
    return;
  }
  if (window < 0 || window > capacity || (window > 0 && rows > window)) {
    throw_invalid_argument("set_rows needs a window of 0, or from the number of rows (", rows,
                           ") to the capacity (", capacity, "), but got (", window, ") for ",
                           describe(call, 0), " and ", describe(call, 1), ".");
  }
}

// A row that is known and not there is a mistake; of rows that a launch decides, those outside of
// the table touch nothing.
void require_position(const OpCall& call) {
  const auto& a = call.as<SetRowsAttributes>();
  if (call.inputs[2] || a.position.dynamic()) {
    return;
  }
  const std::int64_t position = a.position.value;
  const std::int64_t capacity = call.inputs[0].shape().dim(0);
  const Shape& values = call.inputs[1].shape();
  const std::int64_t rows =
      values.fixed() ? values.dim(0) : std::min<std::int64_t>(1, values.dim(0));
  const bool wraps = a.window.dynamic() || a.window.value > 0;
  if (position < 0 || (!wraps && position > capacity - rows)) {
    throw_invalid_argument("set_rows needs a position from 0 to ", capacity - rows, " for (", rows,
                           ") rows, but got (", position, ") for ", describe(call, 0), " and ",
                           describe(call, 1), ".");
  }
}

Outputs infer(const OpCall& call) {
  const Shape& table = call.inputs[0].shape();
  const Shape& values = call.inputs[1].shape();
  require_pair(row_elements(table) == row_elements(values), call, "rows of equal size", 0, 1);
  require_pair((call.inputs[0].dtype() == DType::i32) == (call.inputs[1].dtype() == DType::i32),
               call, "i32 values for an i32 table, and only there", 0, 1);
  constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();
  if (table.elements() == 0 || table.dim(0) > kMaxRows || values.dim(0) > kMaxRows) {
    throw_invalid_argument(
        "set_rows needs a table that is not empty and at most 2^31 - 1 rows, but got ",
        describe(call, 0), " and ", describe(call, 1), ".");
  }
  if (call.inputs[2]) {
    require_rank(call, 2, 1);
    require_pair(call.inputs[2].shape().dim(0) == values.dim(0) &&
                     (call.inputs[2].shape().fixed() || !values.fixed()),
                 call, "one id per row", 1, 2);
  }
  require_window(call, values.dim(0), table.dim(0));
  require_position(call);
  return {};
}

Cost cost(const BoundCall& call) {
  const BoundTensor& values = call.tensors[1];
  const auto elements = static_cast<std::uint64_t>(values.shape().elements());
  const std::uint64_t id_bytes = call.tensors[2] ? call.tensors[2].spec->bytes() : 4;
  return {values.spec->bytes() + id_bytes, bytes_of(call.tensors[0].dtype(), elements), 0};
}

/// -1: nowhere.
std::int64_t target_row(const HostCall& call, std::int64_t r) {
  const HostTensor& ids = call.tensors[2];
  if (ids) {
    return ids.load_integer(r);
  }
  const auto& a = call.as<SetRowsAttributes>();
  const std::int64_t target = std::int64_t{call.value(a.position)} + r;
  const std::int64_t window = call.value(a.window);
  if (target < 0 || window <= 0) {
    return target;
  }
  return r + window < call.tensors[1].shape().dim(0) ? -1 : target % window;
}

void reference(const HostCall& call) {
  const HostTensor& table = call.tensors[0];
  const HostTensor& values = call.tensors[1];
  const std::int64_t capacity = table.shape().dim(0);
  const std::int64_t cols = row_elements(table.shape());
  const std::int64_t inner = values.shape().back();
  const std::int64_t stride = last_stride(values);
  // i32 are moved as they are, as f32: neither is converted.
  const Encode encode = encoder_of(table.dtype() == DType::i32 ? DType::f32 : table.dtype());
  const std::uint64_t row_bytes = bytes_of(table.dtype(), static_cast<std::uint64_t>(cols));
  std::vector<float> row;
  std::int64_t r = 0;
  for_each_row(values.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const auto* from = elements_of<const float>(values) + values.row(i0, i1, i2);
    for (std::int64_t c = 0; c < inner; ++c) {
      std::memcpy(&row.emplace_back(), from + c * stride, sizeof *from);
      if (static_cast<std::int64_t>(row.size()) < cols) {
        continue;
      }
      if (const std::int64_t target = target_row(call, r++); target >= 0 && target < capacity) {
        encode(row.data(), row.size(), table.data + static_cast<std::uint64_t>(target) * row_bytes);
      }
      row.clear();
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& table = call.tensors[0];
  const BoundTensor& values = call.tensors[1];
  const BoundTensor& ids = call.tensors[2];
  const auto& a = call.as<SetRowsAttributes>();
  if (values.shape().elements() == 0) {
    return;
  }
  indexable_elements(table);
  Push push{};
  push.shape = shape_words(values.shape());
  push.values = view_of(values, traits);
  const std::uint32_t elements = indexable_elements(values);
  push.rows = rows_of(values.shape());
  push.cols = word(row_elements(table.shape()));
  push.capacity = word(table.shape().dim(0));
  push.table_offset = view_of(table, traits).offset;
  push.id_words = words_of_ids(ids);
  push.ids_offset = view_of(ids, traits).offset * push.id_words;
  push.position = a.position;
  push.window = a.window;
  const std::uint32_t block = info_of(table.dtype()).block_elements;
  const bool lanes = traits.kernels == KernelFamily::lanes && block == 1 && push.cols % 4 == 0 &&
                     push.table_offset % 4 == 0 && in_whole_texels(values, push.values);
  // 32 bits are moved as they are, whatever they mean.
  const DType stored = table.dtype() == DType::i32 ? DType::f32 : table.dtype();
  dispatch_units(call, traits, steps, shader_for(call.op, stored, lanes ? "lanes_" : ""),
                 {values.shape(), elements / block}, push, lanes ? 4 : 1);
}

}  // namespace

extern const OpDef set_rows_def;
const OpDef set_rows_def{.name = "set_rows",
                         .family = OpFamily::movement,
                         .operands = kOperands,
                         .attributes = kAttributes,
                         .push_bytes = sizeof(Push),
                         .shaders = kShaders,
                         .infer = infer,
                         .cost = cost,
                         .reference = reference,
                         .lower = lower,
                         .extents = ExtentRule::elements,
                         .row_numbers = {2, 0, 0}};

}  // namespace reprise::ops

namespace reprise {

void set_rows(Site site, TensorRef table, TensorRef values, TensorRef ids) {
  require_operand(site, ops::set_rows_def, 2, ids);
  record_in_place(site, ops::set_rows_def, {table, values, ids}, SetRowsAttributes{});
}

void set_rows(Site site, TensorRef table, TensorRef values, SetRowsAttributes a) {
  record_in_place(site, ops::set_rows_def, {table, values, {}}, a);
}

}  // namespace reprise
