#include "reprise/ops/expert_check.h"

#include <algorithm>

#include "framework/core/iteration_header.h"
#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr std::int32_t kNone = -1, kServed = -2;

struct ExpertCheckAttributes {
  Param<std::int32_t> rows;  // those that count: the first ones
  std::int32_t stop = 0;
  bool first = true;
};

constexpr Operand kOperands[] = {{"ids", Access::read, accepts({DType::i32})},
                                 {"cells", Access::read, accepts({DType::i32})},
                                 {"iteration", Access::read_write, accepts({DType::i32})},
                                 {"uses", Access::read_write, accepts({DType::i32})}};
constexpr Operand kResults[] = {{"placed", Access::write, accepts({DType::i32})}};
constexpr Attribute kAttributes[] = {
    {"rows", AttributeType::param_i32, offsetof(ExpertCheckAttributes, rows)},
    {"stop", AttributeType::i32, offsetof(ExpertCheckAttributes, stop)},
    {"first", AttributeType::boolean, offsetof(ExpertCheckAttributes, first)}};
constexpr std::string_view kShaders[] = {"expert_check"};

// Mirrors the push block of shaders/expert_check.comp.
struct Push {
  Param<std::int32_t> rows;
  Param<std::int32_t> counted;
  std::int32_t stop;
  std::uint32_t used;
  std::uint32_t experts;
  std::uint32_t first;
  std::uint32_t grids;
  std::array<std::uint32_t, 5> offsets;  // of all operands and the result
};

Outputs infer(const OpCall& call) {
  require_rank(call, 0, 2);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    require_rank(call, i, 1);
  }
  if (grid_rows(call.inputs[2].shape()) < 1) {
    throw_invalid_argument("expert_check needs an iteration of at least ",
                           kGridHeaderWords + kGridRowWords, " words, but got ", describe(call, 2),
                           ".");
  }
  require_pair(call.inputs[1].shape() == call.inputs[3].shape(), call, "a count for each expert", 1,
               3);
  return TensorSpec({call.inputs[1].shape().back()}, DType::i32);
}

Cost cost(const BoundCall& call) {
  const auto ids = static_cast<std::uint64_t>(call.tensors[0].shape().elements());
  const auto experts = static_cast<std::uint64_t>(call.tensors[1].shape().back());
  return {.read_bytes = 4 * (3 * ids + experts), .write_bytes = 4 * (ids + experts)};
}

void stop_here(const HostTensor& iteration, std::int32_t stop) {
  auto* header = elements_of<std::int32_t>(iteration);
  header[kIterationStop] = stop;
  const auto rows = std::min<std::int64_t>(static_cast<std::uint32_t>(header[kIterationGrids]),
                                           grid_rows(iteration.shape()));
  for (std::int64_t r = 0; r < rows; ++r) {
    std::fill_n(header + kGridHeaderWords + r * kGridRowWords + kGridNow, 3, 0);
  }
}

void reference(const HostCall& call) {
  const auto& a = call.as<ExpertCheckAttributes>();
  const HostTensor& ids = call.tensors[0];
  const HostTensor& cells = call.tensors[1];
  auto* uses = elements_of<std::uint32_t>(call.tensors[3]);
  const std::int64_t experts = cells.shape().back();
  const std::int64_t rows = std::clamp<std::int64_t>(call.value(a.rows), 0, ids.shape().dim(0));
  for (std::int64_t i = 0; i < rows * ids.shape().back(); ++i) {
    const std::int64_t id = ids.load_integer(i);
    if (id < 0 || id >= experts) {
      continue;
    }
    uses[id] += a.first ? 1U : 0U;
    if (cells.load_integer(id) == kNone) {
      stop_here(call.tensors[2], a.stop);
    }
  }
  auto* placed = elements_of<std::int32_t>(call.tensors[4]);
  for (std::int64_t e = 0; e < experts; ++e) {
    const auto cell = static_cast<std::int32_t>(cells.load_integer(e));
    placed[e] = a.first || cell == kNone ? cell : kServed;
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const auto& a = call.as<ExpertCheckAttributes>();
  const BoundTensor& ids = call.tensors[0];
  const std::int64_t experts = call.tensors[1].shape().back();
  indexable_elements(ids);
  const std::int64_t turns = std::max(ids.shape().elements(), experts);
  require_loop_limit(call, traits, turns / traits.workgroup_size + 1, turns);
  const Push push{.rows = rows_of(ids.shape()),
                  .counted = a.rows,
                  .stop = a.stop,
                  .used = word(ids.shape().back()),
                  .experts = word(experts),
                  .first = a.first ? 1U : 0U,
                  .grids = word(grid_rows(call.tensors[2].shape())),
                  .offsets = offsets_of(call.tensors.first<5>(), traits)};
  steps.dispatch(call, traits, {"expert_check", {traits.workgroup_size}, 1}, {1, 1, 1}, push);
}

}  // namespace

extern const OpDef expert_check_def;
const OpDef expert_check_def{.name = "expert_check",
                             .operands = kOperands,
                             .results = kResults,
                             .attributes = kAttributes,
                             .push_bytes = sizeof(Push),
                             .shaders = kShaders,
                             .infer = infer,
                             .cost = cost,
                             .reference = reference,
                             .lower = lower,
                             .extents = ExtentRule::indexed};

}  // namespace reprise::ops

namespace reprise {

Tensor expert_check(Site site, TensorRef ids, TensorRef cells, TensorRef iteration, TensorRef uses,
                    std::int32_t stop, bool first) {
  require_operand(site, ops::expert_check_def, 0, ids);
  return record(site, ops::expert_check_def, {ids, cells, iteration, uses},
                ops::ExpertCheckAttributes{ids.shape().extent(0), stop, first});
}

}  // namespace reprise
