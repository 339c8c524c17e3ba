#include "framework/ops/matmul_lanes.h"

#include <algorithm>
#include <bit>

#include "framework/ops/push_block.h"

namespace reprise::ops {
namespace {

constexpr std::uint32_t kLanes = 8;
// Of an invocation: with 8 x 4 sums a fetched texel is used often enough to hide its cost. With
// more the driver keeps them in memory: 13 GFLOP/s instead of 18. One row of x leaves room for more
// of w.
constexpr std::int64_t kMaxRows = 8;
constexpr std::int64_t kColumns = 4;
constexpr std::int64_t kSingleRowColumns = 8;

bool in_texels(const BoundTensor& tensor, const View& view) {
  const DTypeInfo& info = info_of(tensor.dtype());
  if (info.block_elements > 1) {
    return true;
  }
  const std::uint32_t elements = 16 / info.block_bytes;
  return tensor.shape().back() % elements == 0 && rows_begin_at(view, elements);
}

}  // namespace

bool lanes_can(const BoundCall& call, const View& x, const View& w) {
  return in_texels(call.tensors[0], x) && in_texels(call.tensors[1], w);
}

Dispatch lanes_matmul(const BoundCall& call, const Shape& y) {
  const DType dtype = call.tensors[1].dtype();
  const std::int64_t y_rows = y.padded()[2];
  std::int64_t rows = 1;
  std::int64_t columns = kSingleRowColumns;
  // Lanes with rows of x of their own; the others have rows of w. 0: all lanes share the texels of
  // the same rows.
  std::int64_t spread = 1;
  if (y_rows > 1) {
    rows = std::int64_t{std::bit_ceil(word(std::min(y_rows, kMaxRows)))};
    columns = kColumns;
    spread = y_rows > kMaxRows ? 2 : 1;
  } else if (info_of(dtype).block_elements == 1) {
    spread = 0;  // a lane to a row would read rows whose lines take each other's place in the cache
  }
  const std::int64_t tile_rows = rows * std::max<std::int64_t>(spread, 1);
  const std::int64_t tile_columns = spread == 0 ? columns : columns * kLanes / spread;
  return {
      {shader_for(call.op, dtype, "lanes_"), {kLanes, word(rows), word(columns), word(spread)}, 4},
      grid_of_tiles(y, tile_rows, tile_columns)};
}

}  // namespace reprise::ops
