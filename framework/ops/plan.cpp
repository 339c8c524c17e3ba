#include "reprise/ops/plan.h"

#include "framework/core/iteration_header.h"
#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr std::int64_t kRowWords = 12;
constexpr std::int32_t kMaxCarried = 32;  // bits of the mask

constexpr Operand kOperands[] = {{"state", Access::read_write, accepts({DType::i32})},
                                 {"patch", Access::read_write, accepts({DType::i32})},
                                 {"table", Access::read, accepts({DType::i32}), true},
                                 {"iteration", Access::read_write, accepts({DType::i32}), true}};
constexpr Attribute kAttributes[] = {
    {"carried_first", AttributeType::i32, offsetof(PlanAttributes, carried_first)},
    {"carried_count", AttributeType::i32, offsetof(PlanAttributes, carried_count)},
    {"row_count", AttributeType::i32, offsetof(PlanAttributes, row_count)},
    {"stop_word", AttributeType::i32, offsetof(PlanAttributes, stop_word)}};
constexpr std::string_view kShaders[] = {"plan"};

// Mirrors the push block of shaders/plan.comp.
struct Push {
  PlanAttributes counts;
  std::uint32_t words;
  std::array<std::uint32_t, 4> offsets;  // of all operands
  std::uint32_t grids;                   // rows there is room for; 0: no iteration is given
};

void require_count(std::string_view name, std::int32_t value, std::int64_t max) {
  if (value < 0 || value > max) {
    throw_invalid_argument("plan needs ", name, " from 0 to ", max, ", but got (", value, ").");
  }
}

Outputs infer(const OpCall& call) {
  const PlanAttributes& a = call.as<PlanAttributes>();
  require_rank(call, 0, 1);
  require_rank(call, 1, 1);
  const std::int64_t words = call.inputs[0].shape().back();
  if (call.inputs[1].shape().back() < 1) {
    throw_invalid_argument("plan needs a patch of at least 1 word, but got ", describe(call, 1),
                           ".");
  }
  require_count("carried_count", a.carried_count,
                std::min<std::int64_t>(kMaxCarried, call.inputs[1].shape().back() - 1));
  require_count("carried_first", a.carried_first, words - a.carried_count);
  std::int64_t rows = 0;
  if (call.inputs[2]) {
    require_rank(call, 2, 2);
    rows = call.inputs[2].shape().dim(0);
    if (call.inputs[2].shape().back() != kRowWords) {
      throw_invalid_argument("plan needs a table of (", kRowWords, ") columns, but got ",
                             describe(call, 2), ".");
    }
  }
  require_count("row_count", a.row_count, rows);
  if (a.stop_word != -1) {
    require_count("stop_word", a.stop_word, words - 1);
  }
  if (call.inputs[3]) {
    require_rank(call, 3, 1);
    if (grid_rows(call.inputs[3].shape()) < 1) {
      throw_invalid_argument("plan needs an iteration of at least ",
                             kGridHeaderWords + kGridRowWords, " words, but got ",
                             describe(call, 3), ".");
    }
  }
  return {};
}

Cost cost(const BoundCall& call) {
  const PlanAttributes& a = call.as<PlanAttributes>();
  const auto carried = static_cast<std::uint64_t>(a.carried_count);
  const auto rows = static_cast<std::uint64_t>(a.row_count);
  return {.read_bytes = 4 * (1 + carried + 14 * rows),
          .write_bytes = 4 * (1 + carried + rows),
          .operations = 8 * rows};
}

/// Applies patches and computes the table; whether all rows stay in their ranges.
bool update(const HostCall& call, std::span<std::int32_t> words) {
  const PlanAttributes& a = call.as<PlanAttributes>();
  auto* patch = elements_of<std::int32_t>(call.tensors[1]);
  const auto* row = elements_of<const std::int32_t>(call.tensors[2]);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(a.carried_count); ++i) {
    if ((static_cast<std::uint32_t>(patch[0]) >> i & 1U) != 0) {
      words[static_cast<std::uint32_t>(a.carried_first) + i] = patch[1 + i];
    }
  }
  patch[0] = 0;
  bool in_range = true;
  for (std::int32_t r = 0; r < a.row_count; ++r, row += kRowWords) {
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
      in_range = in_range && row[9] <= words[target] && words[target] <= row[10];
    }
  }
  return in_range;
}

/// The rows of a step; 0 if its field counts none, or is not there.
std::uint32_t extent_in(std::span<const std::int32_t> words, std::uint32_t word) {
  return word < words.size() ? static_cast<std::uint32_t>(std::max(words[word], 0)) : 0;
}

/// Nothing runs over no rows: the pass as a whole would have nothing to work on.
bool is_any_extent_empty(std::span<const std::uint32_t> rows, std::span<const std::int32_t> words) {
  for (std::size_t r = 0; r < rows.size(); r += kGridRowWords) {
    const std::uint32_t field = rows[r + kGridNow - 1];
    if (field != Extent::kFixed && extent_in(words, field) == 0) {
      return true;
    }
  }
  return false;
}

void write_grids_now(std::span<std::uint32_t> rows, std::span<const std::int32_t> words,
                     bool runs) {
  for (; !rows.empty(); rows = rows.subspan(kGridRowWords)) {
    const Groups groups({rows[0], rows[1], rows[2]}, {rows[8], rows[9], rows[10], rows[11]});
    const std::uint32_t field = rows[kGridNow - 1];
    const Grid grid =
        field == Extent::kFixed ? groups.grid : live_grid(groups, extent_in(words, field));
    std::ranges::copy(runs ? grid : Grid{}, rows.begin() + kGridNow);
  }
}

void reference(const HostCall& call) {
  const HostTensor& state = call.tensors[0];
  if (call.tensors[3] && elements_of<std::int32_t>(call.tensors[3])[kIterationStop] != 0) {
    return;
  }
  const std::span words(elements_of<std::int32_t>(state),
                        static_cast<std::size_t>(state.shape().back()));
  const bool in_range = update(call, words);
  const HostTensor& iteration = call.tensors[3];
  if (!iteration) {
    return;
  }
  const std::int32_t stop = call.as<PlanAttributes>().stop_word;
  auto* header = elements_of<std::uint32_t>(iteration);
  const std::span<std::uint32_t> rows(
      header + kGridHeaderWords,
      std::min<std::size_t>(header[kIterationGrids],
                            static_cast<std::size_t>(grid_rows(iteration.shape()))) *
          kGridRowWords);
  const bool runs = in_range && (stop < 0 || words[static_cast<std::size_t>(stop)] == 0) &&
                    !is_any_extent_empty(rows, words);
  header[kIterationsRun] += runs ? 1 : 0;
  header[kIterationRuns] = runs ? 1 : 0;
  write_grids_now(rows, words, runs);
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& iteration = call.tensors[3];
  const Push push{call.as<PlanAttributes>(), word(call.tensors[0].shape().back()),
                  offsets_of(call.tensors.first<4>(), traits),
                  iteration ? word(grid_rows(iteration.shape())) : 0};
  steps.dispatch(call, traits, {"plan", {traits.workgroup_size}, 1}, {1, 1, 1}, push);
}

}  // namespace

extern const OpDef plan_def;
const OpDef plan_def{.name = "plan",
                     .operands = kOperands,
                     .attributes = kAttributes,
                     .push_bytes = sizeof(Push),
                     .shaders = kShaders,
                     .infer = infer,
                     .cost = cost,
                     .reference = reference,
                     .lower = lower};

}  // namespace reprise::ops

namespace reprise {

void plan(Site site, TensorRef state, TensorRef patch, TensorRef table, TensorRef iteration,
          PlanAttributes a) {
  record_in_place(site, ops::plan_def, {state, patch, table, iteration}, a);
}

}  // namespace reprise
