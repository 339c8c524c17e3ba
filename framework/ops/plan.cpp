#include "reprise/ops/plan.h"

#include "framework/ops/schema.h"
#include "reprise/core/step.h"

namespace reprise::ops {
namespace {

constexpr std::int64_t kRowWords = 12;
constexpr std::int32_t kMaxCarried = 32;  // bits of the mask

constexpr Operand kOperands[] = {{"state", Access::read_write, accepts({DType::i32})},
                                 {"patch", Access::read_write, accepts({DType::i32})},
                                 {"table", Access::read, accepts({DType::i32}), true}};
constexpr Attribute kAttributes[] = {
    {"carried_first", AttributeType::i32, offsetof(PlanAttributes, carried_first)},
    {"carried_count", AttributeType::i32, offsetof(PlanAttributes, carried_count)},
    {"derived_count", AttributeType::i32, offsetof(PlanAttributes, derived_count)}};
constexpr std::string_view kShaders[] = {"plan"};

// Mirrors the push block of shaders/plan.comp.
struct Push {
  PlanAttributes counts;
  std::uint32_t words;
  std::uint32_t state_offset;
  std::uint32_t patch_offset;
  std::uint32_t table_offset;
};

void require_count(std::string_view name, std::int32_t value, std::int64_t most) {
  if (value < 0 || value > most) {
    invalid("plan needs " + std::string(name) + " from 0 to " + std::to_string(most) +
            ", but got (" + std::to_string(value) + ").");
  }
}

Outputs infer(const OpCall& call) {
  const PlanAttributes& a = call.as<PlanAttributes>();
  require_rank(call, 0, 1);
  require_rank(call, 1, 1);
  const std::int64_t words = call.inputs[0].shape().back();
  if (call.inputs[1].shape().back() < 1) {
    invalid("plan needs a patch of at least 1 word, but got " + describe(call, 1) + ".");
  }
  require_count("carried_count", a.carried_count,
                std::min<std::int64_t>(kMaxCarried, call.inputs[1].shape().back() - 1));
  require_count("carried_first", a.carried_first, words - a.carried_count);
  std::int64_t rows = 0;
  if (call.inputs[2]) {
    require_rank(call, 2, 2);
    rows = call.inputs[2].shape().dim(0);
    if (call.inputs[2].shape().back() != kRowWords) {
      invalid("plan needs a table of (" + std::to_string(kRowWords) + ") columns, but got " +
              describe(call, 2) + ".");
    }
  }
  require_count("derived_count", a.derived_count, rows);
  return {};
}

Cost cost(const BoundCall& call) {
  const PlanAttributes& a = call.as<PlanAttributes>();
  const auto carried = static_cast<std::uint64_t>(a.carried_count);
  const auto derived = static_cast<std::uint64_t>(a.derived_count);
  return {.read_bytes = 4 * (1 + carried + 14 * derived),
          .write_bytes = 4 * (1 + carried + derived),
          .operations = 8 * derived};
}

void reference(const HostCall& call) {
  const PlanAttributes& a = call.as<PlanAttributes>();
  const HostTensor& state = call.tensors[0];
  const std::span words(elements_of<std::int32_t>(state),
                        static_cast<std::size_t>(state.shape().back()));
  auto* patch = elements_of<std::int32_t>(call.tensors[1]);
  const auto* row = elements_of<const std::int32_t>(call.tensors[2]);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(a.carried_count); ++i) {
    if ((static_cast<std::uint32_t>(patch[0]) >> i & 1U) != 0) {
      words[static_cast<std::uint32_t>(a.carried_first) + i] = patch[1 + i];
    }
  }
  patch[0] = 0;
  for (std::int32_t r = 0; r < a.derived_count; ++r, row += kRowWords) {
    const auto target = static_cast<std::uint32_t>(row[0]);
    if (target < words.size()) {
      words[target] = evaluate({.x = row[1],
                                .y = row[2],
                                .a = row[3],
                                .b = row[4],
                                .c = row[5],
                                .div = row[6],
                                .lo = row[7],
                                .hi = row[8]},
                               words);
    }
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& table = call.tensors[2];
  const Push push{call.as<PlanAttributes>(), word(call.tensors[0].shape().back()),
                  view_of(call.tensors[0], traits).offset, view_of(call.tensors[1], traits).offset,
                  table ? view_of(table, traits).offset : 0};
  steps.dispatch(call, traits, {"plan", {traits.workgroup_size}, 1}, {1, 1, 1}, push);
}

}  // namespace

extern const OpDef plan_def;
const OpDef plan_def{.name = "plan",
                     .operands = kOperands,
                     .results = {},
                     .attributes = kAttributes,
                     .push_bytes = sizeof(Push),
                     .shaders = kShaders,
                     .infer = infer,
                     .cost = cost,
                     .reference = reference,
                     .lower = lower};

}  // namespace reprise::ops

namespace reprise {

void plan(Site site, TensorRef state, TensorRef patch, TensorRef table, PlanAttributes a) {
  record_in_place(site, ops::plan_def, {state, patch, table}, a);
}

}  // namespace reprise
