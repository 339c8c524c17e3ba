#include "reprise/ops/get_rows.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "framework/ops/weight_formats.h"
#include "framework/ops/weight_parts.h"
#include "reprise/backend/decode.h"

namespace reprise::ops {
namespace {

struct GetRowsAttributes {
  Param<std::int32_t> id;  // used if there is no ids operand
};

constexpr Operand kOperands[] = {{"table", Access::read, kWeightTypes},
                                 {"ids", Access::read, accepts({DType::i32, DType::i64}), true}};
constexpr Attribute kAttributes[] = {
    {"id", AttributeType::param_i32, offsetof(GetRowsAttributes, id)}};
constexpr auto kShaders = kFormatShaders<"get_rows.">;

// Mirrors the push block of shaders/get_rows.comp.
struct Push {
  std::uint32_t elements;  // of y
  std::uint32_t cols;
  std::uint32_t ids_per_table;
  Param<std::int32_t> table_rows;
  std::uint32_t first_row;  // of the part that is bound
  std::uint32_t part_rows;
  std::uint32_t table_offset;
  std::uint32_t y_offset;
  std::uint32_t ids_offset;
  std::uint32_t id_words;  // 0: no ids operand
  Param<std::int32_t> id;
};

Outputs infer(const OpCall& call) {
  const Shape& table = call.inputs[0].shape();
  const bool listed = static_cast<bool>(call.inputs[1]);
  const std::size_t leading = listed ? call.inputs[1].shape().rank() - 1 : 0;
  if (table.rank() != leading + 2) {
    if (listed) {
      require_pair(false, call, "a table with one dimension more than ids", 0, 1);
    }
    require_rank(call, 0, 2);
  }
  std::array<std::int64_t, Shape::kMaxRank> dims{};
  for (std::size_t i = 0; i < leading; ++i) {
    dims[i] = table.dim(i);
    require_pair(dims[i] == call.inputs[1].shape().dim(i), call,
                 "equal leading dimensions of table and ids", 0, 1);
  }
  dims[leading] = listed ? call.inputs[1].shape().dim(leading) : 1;
  dims[leading + 1] = table.back();
  const std::int64_t rows = table.dim(leading);
  if (rows < 1 || rows > std::numeric_limits<std::int32_t>::max()) {
    throw_invalid_argument("get_rows needs 1 to 2^31 - 1 rows, but ", describe(call, 0), " has (",
                           rows, ").");
  }
  const Param<std::int32_t>& id = call.as<GetRowsAttributes>().id;
  if (!listed && !id.dynamic() && (id.value < 0 || id.value >= rows)) {
    throw_invalid_argument("get_rows needs a row from 0 to ", rows - 1, " of ", describe(call, 0),
                           ", but got (", id.value, ").");
  }
  const Shape shape(std::span<const std::int64_t>(dims).first(leading + 2));
  return TensorSpec{listed ? shape.with_extent(call.inputs[1].shape().extent_word()) : shape,
                    DType::f32};
}

Cost cost(const BoundCall& call) {
  const BoundTensor& y = call.tensors[2];
  const auto elements = static_cast<std::uint64_t>(y.shape().elements());
  const std::uint64_t id_bytes = call.tensors[1] ? call.tensors[1].spec->bytes() : 4;
  return {bytes_of(call.tensors[0].dtype(), elements) + id_bytes, y.spec->bytes(), 0};
}

void reference(const HostCall& call) {
  const HostTensor& table = call.tensors[0];
  const HostTensor& ids = call.tensors[1];
  const HostTensor& y = call.tensors[2];
  const std::int64_t cols = table.shape().back();
  const std::uint64_t row_bytes = bytes_of(table.dtype(), static_cast<std::uint64_t>(cols));
  const Decode decode = decoder_of(table.dtype());
  const std::int64_t table_rows = table.shape().dim(table.shape().rank() - 2);
  const std::int64_t ids_per_table = ids ? ids.shape().back() : 1;
  for (std::int64_t r = 0; r < y.shape().rows(); ++r) {
    const std::int64_t id =
        ids ? ids.load_integer(r) : std::int64_t{call.value(call.as<GetRowsAttributes>().id)};
    float* to = elements_of<float>(y) + r * cols;
    if (id < 0 || id >= table_rows) {
      std::fill_n(to, cols, std::numeric_limits<float>::quiet_NaN());
    } else {
      const auto row = static_cast<std::uint64_t>(r / ids_per_table * table_rows + id);
      decode(table.data + row * row_bytes, static_cast<std::size_t>(cols), to);
    }
  }
}

/// `call` has the rows from `first_row` on of a table of `table_rows`.
void dispatch(const BoundCall& call, std::int64_t first_row, Param<std::int32_t> table_rows,
              const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& table = call.tensors[0];
  const BoundTensor& ids = call.tensors[1];
  Push push{};
  push.elements = indexable_elements(call.tensors[2]);
  push.cols = word(table.shape().back());
  push.ids_per_table = ids ? word(ids.shape().back()) : 1;
  push.table_rows = table_rows;
  push.first_row = word(first_row);
  push.part_rows = word(table.shape().dim(table.shape().rank() - 2));
  push.table_offset = view_of(table, traits).offset;
  push.y_offset = view_of(call.tensors[2], traits).offset;
  if (ids) {
    word(ids.shape().elements() * 2);
  }
  push.id_words = words_of_ids(ids);
  push.ids_offset = view_of(ids, traits).offset * push.id_words;
  push.id = call.as<GetRowsAttributes>().id;
  dispatch_units(call, traits, steps, shader_for(call.op, table.dtype()),
                 {call.tensors[2].shape(), push.elements}, push);
}

/// The ids, or the part of y, of the tables in a part: their leading dimensions are its own.
Box beside(const Box& part, std::size_t leading, const BoundTensor& tensor) {
  Box box(tensor.shape());
  const std::size_t from = Shape::kMaxRank - 2 - leading;
  const std::size_t to = Shape::kMaxRank - tensor.shape().rank();
  std::copy_n(part.first.begin() + from, leading, box.first.begin() + to);
  std::copy_n(part.extent.begin() + from, leading, box.extent.begin() + to);
  return box;
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& table = call.tensors[0];
  const BoundTensor& ids = call.tensors[1];
  const BoundTensor& y = call.tensors[2];
  const std::size_t leading = table.shape().rank() - 2;
  const Param<std::int32_t> rows =
      leading == 0 ? rows_of(table.shape())
                   : Param<std::int32_t>(static_cast<std::int32_t>(table.shape().dim(leading)));
  if (fits_one_binding(table, traits)) {
    dispatch(call, 0, rows, traits, steps);
    return;
  }
  // Parts of one table write different rows of y, but each binds all of them: barriers order them.
  for (const Box& part : boxes_that_fit(table, traits, 1)) {
    const BoxedTensor table_part(table, part);
    const BoxedTensor y_part(y, beside(part, leading, y));
    std::optional<BoxedTensor> ids_part;
    if (ids) {
      ids_part.emplace(ids, beside(part, leading, ids));
    }
    const BoundTensor tensors[] = {table_part.bound, ids ? ids_part->bound : ids, y_part.bound};
    dispatch({call.op, call.node, tensors, call.state, call.attributes}, part.first[2], rows,
             traits, steps);
  }
}

}  // namespace

extern const OpDef get_rows_def;
const OpDef get_rows_def{.name = "get_rows",
                         .family = OpFamily::movement,
                         .operands = kOperands,
                         .results = kFloatY,
                         .attributes = kAttributes,
                         .push_bytes = sizeof(Push),
                         .shaders = kShaders,
                         .infer = infer,
                         .cost = cost,
                         .reference = reference,
                         .lower = lower,
                         .extents = ExtentRule::indexed,
                         .row_numbers = {1, 0, -2}};

}  // namespace reprise::ops

namespace reprise {

Tensor get_rows(Site site, TensorRef table, TensorRef ids) {
  require_operand(site, ops::get_rows_def, 1, ids);
  return record(site, ops::get_rows_def, {table, ids}, ops::GetRowsAttributes{});
}

Tensor get_rows(Site site, TensorRef table, Param<std::int32_t> id) {
  return record(site, ops::get_rows_def, {table, {}}, ops::GetRowsAttributes{id});
}

}  // namespace reprise
