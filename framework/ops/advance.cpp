#include "reprise/ops/advance.h"

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr std::int32_t kAbsent = -1;  // StateField::kNone as i32

// What is recorded: plain words, not Param, because the kernel reads fields through the state
// operand that it writes; a uniform binding of the same block would race with it.
struct Form {
  std::int32_t position = kAbsent, token = kAbsent, done = kAbsent;  // words of the state block
  std::int32_t rows = 0, rows_word = kAbsent;
  std::int32_t end_token = 0, end_token_word = kAbsent;
};

constexpr Operand kOperands[] = {{"next", Access::read, accepts({DType::i32})},
                                 {"state", Access::read_write, accepts({DType::i32})}};
constexpr Attribute kAttributes[] = {
    {"position", AttributeType::i32, offsetof(Form, position)},
    {"token", AttributeType::i32, offsetof(Form, token)},
    {"done", AttributeType::i32, offsetof(Form, done)},
    {"rows", AttributeType::i32, offsetof(Form, rows)},
    {"rows_word", AttributeType::i32, offsetof(Form, rows_word)},
    {"end_token", AttributeType::i32, offsetof(Form, end_token)},
    {"end_token_word", AttributeType::i32, offsetof(Form, end_token_word)}};
constexpr std::string_view kShaders[] = {"advance"};

// Mirrors the push block of shaders/advance.comp.
struct Push {
  Form form;
  std::array<std::uint32_t, 2> offsets;  // of next and the state
};

Outputs infer(const OpCall& call) {
  if (call.inputs[0].shape().elements() != 1) {
    throw_invalid_argument("advance needs one element, but ", describe(call, 0), " has (",
                           call.inputs[0].shape().elements(), ").");
  }
  require_rank(call, 1, 1);
  const Form& form = call.as<Form>();
  const std::int64_t words = call.inputs[1].shape().back();
  for (const std::int32_t field :
       {form.position, form.token, form.done, form.rows_word, form.end_token_word}) {
    if (field < kAbsent || field >= words) {
      throw_invalid_argument("advance needs fields of ", describe(call, 1), ", but got word (",
                             field, ").");
    }
  }
  return {};
}

Cost cost(const BoundCall&) { return {.read_bytes = 20, .write_bytes = 12, .operations = 2}; }

void reference(const HostCall& call) {
  const Form& form = call.as<Form>();
  const HostTensor& state = call.tensors[1];
  const std::int64_t next = call.tensors[0].load_integer(0);
  const std::int64_t rows =
      form.rows_word == kAbsent ? form.rows : state.load_integer(form.rows_word);
  const std::int64_t end_token =
      form.end_token_word == kAbsent ? form.end_token : state.load_integer(form.end_token_word);
  if (form.position != kAbsent) {
    const auto sum = static_cast<std::uint32_t>(state.load_integer(form.position) + rows);
    state.store(form.position, static_cast<std::int32_t>(sum));
  }
  if (form.token != kAbsent) {
    state.store(form.token, static_cast<double>(next));
  }
  if (form.done != kAbsent && next == end_token) {
    state.store(form.done, 1);
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const Push push{call.as<Form>(), offsets_of(call.tensors.first<2>(), traits)};
  steps.dispatch(call, traits, {"advance", {traits.workgroup_size}, 1}, {1, 1, 1}, push);
}

StateGrowth grows(const BoundCall& call) {
  const Form& form = call.as<Form>();
  StateGrowth growth{static_cast<std::uint32_t>(form.position), form.rows};
  growth.by.word = static_cast<std::uint32_t>(form.rows_word);
  return growth;
}

}  // namespace

extern const OpDef advance_def;
const OpDef advance_def{.name = "advance",
                        .family = OpFamily::sampling,
                        .operands = kOperands,
                        .attributes = kAttributes,
                        .push_bytes = sizeof(Push),
                        .shaders = kShaders,
                        .infer = infer,
                        .cost = cost,
                        .reference = reference,
                        .lower = lower,
                        .grows = grows};

}  // namespace reprise::ops

namespace reprise {

void advance(Site site, TensorRef next, AdvanceAttributes a) {
  site.recorder.check(ops::advance_def.name, site.where, [&] {
    for (const StateField* field : {&a.position, &a.token, &a.done}) {
      if (field->word != StateField::kNone) {
        require_field(*field, DType::i32, site.where);
      }
    }
  });
  const auto index = [](std::uint32_t field_word) { return static_cast<std::int32_t>(field_word); };
  const ops::Form form{index(a.position.word), index(a.token.word), index(a.done.word),
                       a.rows.value,           index(a.rows.word),  a.end_token.value,
                       index(a.end_token.word)};
  const Tensor state = site.recorder.state_block(site.where);
  record_in_place(site, ops::advance_def, {next, state}, form);
}

}  // namespace reprise
