#include "reprise/ops/top_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "framework/core/float_key.h"
#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "reprise/ops/argsort.h"

namespace reprise::ops {
namespace {

constexpr Operand kResults[] = {{"ids", Access::write, accepts({DType::i32})}};
constexpr Attribute kAttributes[] = {{"k", AttributeType::i32, offsetof(TopKAttributes, k)}};
constexpr std::string_view kShaders[] = {"top_k"};

// Mirrors the push block of shaders/top_k.comp.
struct Push {
  StridedTensor x;
  std::uint32_t elements;
  std::uint32_t k;
};

Outputs infer(const OpCall& call) {
  const Shape& x = call.inputs[0].shape();
  const std::int64_t k = call.as<TopKAttributes>().k;
  if (x.back() > kMaxSortedColumns) {
    throw_invalid_argument("top_k chooses from at most (", kMaxSortedColumns, ") columns, but ",
                           describe(call, 0), " has (", x.back(), ").");
  }
  if (k < 1 || k > x.back()) {
    throw_invalid_argument("top_k chooses (1) to (", x.back(), ") of ", describe(call, 0),
                           " per row, but k is (", k, ").");
  }
  return TensorSpec{x.with_back(k), DType::i32};
}

Cost cost(const BoundCall& call) {
  const Shape& x = call.tensors[0].shape();
  const auto k = static_cast<double>(call.as<TopKAttributes>().k);
  const auto columns = static_cast<double>(x.back());
  const double each = k * (1 + std::log(columns / k));
  return streaming_cost(call, static_cast<std::uint64_t>(static_cast<double>(x.elements()) * each));
}

void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const auto k = static_cast<std::ptrdiff_t>(call.as<TopKAttributes>().k);
  const auto columns = static_cast<std::size_t>(x.shape().back());
  std::vector<std::uint32_t> keys(columns);
  std::vector<std::int32_t> order(columns);
  auto* ids = elements_of<std::int32_t>(call.tensors[1]);
  for_each_float_row(x, [&](const FloatRow& row) {
    for (std::size_t c = 0; c < columns; ++c) {
      keys[c] = key_of(row[static_cast<std::int64_t>(c)]);
    }
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](std::int32_t a, std::int32_t b) {
                        const std::uint32_t key_a = keys[static_cast<std::size_t>(a)];
                        const std::uint32_t key_b = keys[static_cast<std::size_t>(b)];
                        return key_a > key_b || (key_a == key_b && a < b);
                      });
    ids = std::copy_n(order.begin(), k, ids);
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  constexpr std::int64_t kStrips = 32;   // mirrors kStrips of the shader
  constexpr std::int64_t kUnrolled = 8;  // mirrors kLoads of the shader
  const BoundTensor& x = call.tensors[0];
  const std::int64_t columns = x.shape().back();
  require_loop_limit(call, traits, kStrips * (columns / (kStrips * kUnrolled) + 2), columns);
  const Push push{{x, traits}, indexable_elements(x), word(call.as<TopKAttributes>().k)};
  dispatch_units(call, traits, steps, kShaders[0], {x.shape(), push.elements}, push);
}

}  // namespace

extern const OpDef top_k_def;
const OpDef top_k_def{.name = "top_k",
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

Tensor top_k(Site site, TensorRef x, TopKAttributes a) {
  return record(site, ops::top_k_def, {x}, a);
}

}  // namespace reprise
