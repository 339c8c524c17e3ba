#include "framework/ops/matmul_rows.h"

#include <algorithm>

#include "framework/ops/push_block.h"

namespace reprise::ops {
namespace {

// Rows of x that one invocation multiplies with its row of weights: registers.
constexpr std::int64_t kMaxTile = 4;

}  // namespace

Dispatch rows_dispatch(const BoundCall& call, const Shape& y, DType weights,
                       const DeviceTraits& traits) {
  const std::int64_t k = call.tensors[0].shape().back();
  require_loop_limit(call, traits, k / 4 * (2 + kMaxTile), k);
  const auto dims = y.padded();
  const std::uint32_t tile = word(std::min(dims[2], kMaxTile));
  const std::int64_t tiles = (dims[2] + tile - 1) / tile;
  const auto invocations = static_cast<std::uint64_t>(dims[0] * dims[1] * tiles * dims[3]);
  return {{shader_for(call.op, weights), {traits.workgroup_size, tile}, 2},
          groups_for({y, invocations, y.rank() < 3 ? tile : 1}, traits.workgroup_size)};
}

}  // namespace reprise::ops
