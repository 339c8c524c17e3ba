#include "reprise/ops/rope_set_rows.h"

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/rope_form.h"
#include "framework/ops/rope_set_rows.h"

namespace reprise::ops {

extern const OpDef rope_def;
extern const OpDef set_rows_def;

namespace {

using Form = RopeSetRowsForm;

constexpr Operand kOperands[] = {{"table", Access::read_write, accepts({DType::f32, DType::f16})},
                                 {"x", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"positions", Access::read, accepts({DType::i32}), true},
                                 {"frequency_factors", Access::read, accepts({DType::f32}), true},
                                 {"ids", Access::read, accepts({DType::i32, DType::i64}), true}};
constexpr Attribute kAttributes[] = {
    {"position", AttributeType::param_i32, offsetof(Form, rope.position)},
    {"base", AttributeType::param_f32, offsetof(Form, rope.base)},
    {"scale", AttributeType::param_f32, offsetof(Form, rope.scale)},
    {"dims", AttributeType::i32, offsetof(Form, rope.dims)},
    {"pairing", AttributeType::i32, offsetof(Form, rope.pairing)},
    {"row_position", AttributeType::param_i32, offsetof(Form, rows.position)},
    {"window", AttributeType::param_i32, offsetof(Form, rows.window)}};
constexpr std::string_view kShaders[] = {"rope_set_rows.f32", "rope_set_rows.f16"};

// Mirrors the push block of shaders/rope_set_rows.comp.
struct Push {
  Param<std::int32_t> rows;
  std::array<std::uint32_t, 2> shape;
  std::uint32_t x_offset;
  std::array<std::uint32_t, 3> x_strides;
  Param<std::int32_t> position;
  std::uint32_t pairs;
  std::uint32_t given;
  std::uint32_t positions_offset;
  std::uint32_t factors_offset;
  std::uint32_t ids_offset;
  RopePush angles;
  std::uint32_t capacity;
  std::uint32_t table_offset;
  Param<std::int32_t> row_position;
  Param<std::int32_t> window;
};

/// The attribute bytes of one of the two ops.
template <class T>
std::span<const std::byte> attributes_of(const T& part) {
  return std::as_bytes(std::span(&part, 1));
}

Outputs infer(const OpCall& call) {
  const Form& form = call.as<Form>();
  const auto& in = call.inputs;
  const TensorRef rope_inputs[] = {in[1], in[2], in[3]};
  const RopeForm rotation(form.rope);
  (void)rope_def.infer({call.recorder, rope_def, rope_inputs, attributes_of(rotation), call.where});
  const TensorRef rows_inputs[] = {in[0], in[1], in[4]};  // rotated values have the shape of x
  return set_rows_def.infer(
      {call.recorder, set_rows_def, rows_inputs, attributes_of(form.rows), call.where});
}

Cost cost(const BoundCall& call) {
  const BoundTensor& x = call.tensors[1];
  const auto elements = static_cast<std::uint64_t>(x.shape().elements());
  Cost cost{x.spec->bytes(), bytes_of(call.tensors[0].dtype(), elements), 3 * elements};
  for (const BoundTensor& small : call.tensors.subspan(2)) {
    cost.read_bytes += small ? small.spec->bytes() : 0;
  }
  return cost;
}

void reference(const HostCall& call) {
  const Form& form = call.as<Form>();
  const std::span<const HostTensor> t = call.tensors;
  const TensorSpec spec(t[1].shape(), DType::f32);
  std::vector<std::byte> rotated(spec.bytes());
  const HostTensor y{rotated.data(), &spec};
  const HostTensor rope_tensors[] = {t[1], t[2], t[3], y};
  const RopeForm rotation(form.rope);
  rope_def.reference({rope_def, rope_tensors, attributes_of(rotation), call.state});
  const HostTensor rows_tensors[] = {t[0], y, t[4]};
  set_rows_def.reference({set_rows_def, rows_tensors, attributes_of(form.rows), call.state});
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const Form& form = call.as<Form>();
  const BoundTensor& table = call.tensors[0];
  const BoundTensor& x = call.tensors[1];
  const BoundTensor& positions = call.tensors[2];
  const BoundTensor& factors = call.tensors[3];
  const BoundTensor& ids = call.tensors[4];
  if (x.shape().elements() == 0) {
    return;
  }
  indexable_elements(table);
  indexable_elements(x);
  const std::uint32_t id_words = words_of_ids(ids);
  const auto shape = shape_words(x.shape());
  const View view = view_of(x, traits);
  const std::uint32_t pairs = word(form.rope.rotated(x.shape()) / 2);
  const bool half_split = form.rope.pairing == RopePairing::half_split;
  const Push push{.rows = rows_of(x.shape()),
                  .shape = {shape[2], shape[3]},
                  .x_offset = view.offset,
                  .x_strides = {view.strides[1], view.strides[2], view.strides[3]},
                  .position = form.rope.position,
                  .pairs = pairs,
                  .given = (positions ? 1U : 0U) | (factors ? 2U : 0U) | (half_split ? 4U : 0U) |
                           id_words << 3U,
                  .positions_offset = view_of(positions, traits).offset,
                  .factors_offset = view_of(factors, traits).offset,
                  .ids_offset = view_of(ids, traits).offset * id_words,
                  .angles = RopePush(form.rope, pairs),
                  .capacity = word(table.shape().dim(0)),
                  .table_offset = view_of(table, traits).offset,
                  .row_position = form.rows.position,
                  .window = form.rows.window};
  dispatch_rotation(call, traits, steps, table.dtype(), x.shape(), pairs, push);
}

}  // namespace

extern const OpDef rope_set_rows_def;
const OpDef rope_set_rows_def{.name = "rope_set_rows",
                              .family = OpFamily::attention,
                              .operands = kOperands,
                              .attributes = kAttributes,
                              .push_bytes = sizeof(Push),
                              .shaders = kShaders,
                              .infer = infer,
                              .cost = cost,
                              .reference = reference,
                              .lower = lower,
                              .extents = ExtentRule::elements,
                              .row_numbers = {4, 0, 0}};

}  // namespace reprise::ops

namespace reprise {

void rope_set_rows(Site site, TensorRef table, TensorRef x, TensorRef ids, RopeAttributes rotation,
                   SetRowsAttributes rows) {
  site.recorder.check(ops::rope_set_rows_def.name, site.where, [&] {
    if (!ops::RopeForm(rotation).plain()) {
      throw_invalid_argument(
          "rope_set_rows has no sections, extrapolation or magnitude; call rope and set_rows.");
    }
  });
  record_in_place(site, ops::rope_set_rows_def,
                  {table, x, rotation.positions, rotation.frequency_factors, ids},
                  ops::RopeSetRowsForm{ops::RopeAngles(rotation), rows});
}

}  // namespace reprise
