#include "framework/ops/matmul_gpu.h"

#include "framework/ops/push_block.h"

namespace reprise::ops {
namespace {

// Mirrors of shaders/matmul.gpu.comp.
constexpr std::int64_t kTileColumns = 64;
constexpr std::int64_t kTileDown = 8;  // invocations along the rows of a tile
constexpr std::uint32_t kTileInvocations = 128;
constexpr std::int64_t kMaxTileRows = 8;  // of an invocation: 32 sums, 16 KiB of tiles
constexpr std::int64_t kTileK = 32;       // columns of k in a tile
constexpr std::int64_t kMaxParts = 4;
constexpr std::int64_t kMaxSharedRows = 4;  // whose sums fit in the place of a tile of w

constexpr std::int64_t kMaxVectorRows = 8;
constexpr std::uint32_t kMaxVectorInvocations = 256;
// Units of k per invocation: fewer would make the final sums the larger part of the work.
constexpr std::int64_t kUnitsPerInvocation = 4;

// What fills a large GPU several times over, to hide latency: fewer are started only where there is
// no more to share.
constexpr std::int64_t kEnoughInvocations = 131072;
constexpr std::int64_t kEnoughTiles = 256;

struct Extents {
  std::int64_t batch, rows, columns, k;
};

Extents extents_of(const Shape& y, std::int64_t k) {
  const auto dims = y.padded();
  return {dims[0] * dims[1], dims[2], dims[3], k};
}

std::int64_t over(std::int64_t count, std::int64_t each) { return (count + each - 1) / each; }

// Columns of k that an invocation reads of a row of w at once.
std::int64_t unit_of(DType weights) {
  const DTypeInfo& info = info_of(weights);
  return info.block_elements > 1 ? 16 : 16 / info.block_bytes;
}

/// Returns how many parts of k may share a tile.
std::int64_t max_parts(std::int64_t rows, std::int64_t k, const DeviceTraits& traits) {
  const std::int64_t bytes = (kTileColumns + kTileDown * rows) * kTileK * 4;  // of a part's tiles
  std::int64_t parts = rows <= kMaxSharedRows ? kMaxParts : 1;
  while (parts > 1 && (parts * 2 * kTileK > k || parts * bytes > traits.shared_bytes ||
                       parts * kTileInvocations > traits.max_workgroup_size)) {
    parts /= 2;
  }
  return parts;
}

Dispatch tile_dispatch(std::string_view shader, const Shape& y, const Extents& n, bool wide,
                       const DeviceTraits& traits) {
  const auto tiles = [&](std::int64_t rows) {
    return n.batch * over(n.rows, kTileDown * rows) * over(n.columns, kTileColumns);
  };
  // Smaller tiles where x is small, or to have more of them: they read w more often.
  std::int64_t rows = kMaxTileRows;
  while (rows > 2 && (kTileDown * rows / 2 >= n.rows ||
                      tiles(rows) * max_parts(rows, n.k, traits) < kEnoughTiles)) {
    rows /= 2;
  }
  std::int64_t parts = 1;
  while (tiles(rows) * parts < kEnoughTiles && parts < max_parts(rows, n.k, traits)) {
    parts *= 2;
  }
  return {{shader,
           {static_cast<std::uint32_t>(parts) * kTileInvocations, static_cast<std::uint32_t>(rows),
            wide ? 1U : 0U, static_cast<std::uint32_t>(parts)},
           4},
          grid_of_tiles(y, kTileDown * rows, kTileColumns)};
}

}  // namespace

bool wide_products(DType weights, std::int64_t k, const View& x, const View& w) {
  const std::int64_t unit = unit_of(weights);
  const bool blocks = info_of(weights).block_elements > 1;
  return rows_begin_at(x, 4) && k % unit == 0 &&
         (blocks || rows_begin_at(w, static_cast<std::uint32_t>(unit)));
}

Dispatch gpu_vectors(std::string_view shader, const Shape& y, DType weights, std::int64_t k,
                     bool wide, const DeviceTraits& traits) {
  const Extents n = extents_of(y, k);
  const std::uint32_t local =
      group_size(over(n.k, unit_of(weights) * kUnitsPerInvocation), kMaxVectorInvocations, traits);
  // Columns share what is read of x: with one or two rows 4 of them, within about 64 registers.
  std::int64_t columns = n.rows <= 2 ? 4 : 2;
  while (columns > 1 && n.batch * over(n.columns, columns) * local < kEnoughInvocations) {
    columns /= 2;
  }
  const auto groups = static_cast<std::uint64_t>(n.batch * over(n.columns, columns));
  return {{shader,
           {local, static_cast<std::uint32_t>(n.rows), wide ? 1U : 0U,
            static_cast<std::uint32_t>(columns)},
           4},
          // All rows of a matrix are in one workgroup.
          groups_for(y.rank() < 3 ? Work(groups) : Work(y, groups), 1)};
}

Dispatch gpu_matmul(const BoundCall& call, const View& x, const View& w,
                    const DeviceTraits& traits) {
  const Shape& y = call.tensors.back().shape();
  const DType weights = call.tensors[1].dtype();
  const Extents n = extents_of(y, call.tensors[0].shape().back());
  const bool wide = wide_products(weights, n.k, x, w);
  const bool few = n.rows <= kMaxVectorRows;
  const std::string_view shader = shader_for(call.op, weights, few ? "gpu_vector_" : "gpu_tile_");
  return few ? gpu_vectors(shader, y, weights, n.k, wide, traits)
             : tile_dispatch(shader, y, n, wide, traits);
}

}  // namespace reprise::ops
