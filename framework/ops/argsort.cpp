#include "reprise/ops/argsort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "framework/core/float_key.h"
#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr Operand kResults[] = {{"ids", Access::write, accepts({DType::i32})}};
constexpr Attribute kAttributes[] = {
    {"descending", AttributeType::boolean, offsetof(ArgsortAttributes, descending)}};
constexpr std::string_view kShaders[] = {"argsort"};

// Mirrors the push block of shaders/argsort.comp.
struct Push {
  StridedTensor x;
  std::uint32_t descending;
};

Outputs infer(const OpCall& call) {
  const Shape& x = call.inputs[0].shape();
  if (x.back() > kMaxSortedColumns) {
    throw_invalid_argument("argsort sorts at most (", kMaxSortedColumns, ") columns, but ",
                           describe(call, 0), " has (", x.back(), ").");
  }
  return TensorSpec{x, DType::i32};
}

/// The columns, doubled from 1 until they are as many.
std::int64_t doublings_of(std::int64_t columns) {
  std::int64_t doublings = 0;
  while (std::int64_t{1} << doublings < columns) {
    ++doublings;
  }
  return doublings;
}

/// Rounds of compare-and-exchange, each over half of the columns of a row.
std::int64_t rounds_of(std::int64_t columns) {
  const std::int64_t doublings = doublings_of(columns);
  return doublings * (doublings + 1) / 2;
}

Cost cost(const BoundCall& call) {
  const Shape& x = call.tensors[0].shape();
  return streaming_cost(call, static_cast<std::uint64_t>(x.elements() / 2 * rounds_of(x.back())));
}

void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const bool descending = call.as<ArgsortAttributes>().descending;
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(x.shape().back()));
  auto* ids = elements_of<std::int32_t>(call.tensors[1]);
  for_each_float_row(x, [&](const FloatRow& row) {
    for (std::size_t c = 0; c < keys.size(); ++c) {
      const std::uint32_t key = key_of(row[static_cast<std::int64_t>(c)]);
      keys[c] = descending ? ~key : key;
    }
    const std::span order(ids, keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {},
                             [&](std::int32_t id) { return keys[static_cast<std::size_t>(id)]; });
    ids += keys.size();
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  constexpr std::uint32_t kMaxInvocations = 1024;
  constexpr std::int64_t kUnrolled = 4;  // exchanges per turn, mirrors kExchanges of the shader
  const BoundTensor& x = call.tensors[0];
  const std::int64_t columns = x.shape().back();
  const std::uint32_t local = group_size(columns / 2, kMaxInvocations, traits);
  const std::int64_t pairs = (std::int64_t{1} << doublings_of(columns)) / 2;
  const std::int64_t rounds = rounds_of(columns);
  require_loop_limit(call, traits, rounds * (pairs / (kUnrolled * local) + 2) + columns / local + 1,
                     columns);
  const Push push{{x, traits}, call.as<ArgsortAttributes>().descending ? 1U : 0U};
  steps.dispatch(call, traits, {kShaders[0], {local}, 1}, grid_of(x.shape(), x.shape().rows()),
                 push);
}

}  // namespace

extern const OpDef argsort_def;
const OpDef argsort_def{.name = "argsort",
                        .family = OpFamily::sampling,
                        .operands = kStridedX,
                        .results = kResults,
                        .attributes = kAttributes,
                        .push_bytes = sizeof(Push),
                        .shaders = kShaders,
                        .infer = infer,
                        .cost = cost,
                        .reference = reference,
                        .lower = lower,
                        .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor argsort(Site site, TensorRef x, ArgsortAttributes a) {
  return record(site, ops::argsort_def, {x}, a);
}

}  // namespace reprise
