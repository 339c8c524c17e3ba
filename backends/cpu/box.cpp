#include "backends/cpu/box.h"

#include "backends/cpu/kernels/operands.h"

namespace reprise::cpu {
namespace {

constexpr std::int64_t kTileBytes = 16384;
// Of a transposed tile: as many columns as a processor sees streams of reading, and long ones.
constexpr std::int64_t kTransposedRows = 1024;
constexpr std::int64_t kTransposedColumns = 32;
constexpr std::int64_t kMinTransposed = 4;  // rows that are worth it
// Larger than second-level caches. Whoever reads it next pays if a third one would have held it,
// less than it costs to read each line before it is written.
constexpr std::int64_t kStreamed = std::int64_t{8} << 20U;
constexpr double kBytesPerNs = 8;  // both ways
constexpr double kUnitsPerNs = 1;  // one at a time

/// Dimensions of one index, and those that continue the one behind them, are no dimensions.
std::size_t merge(std::span<const BoxDim> dims, std::span<BoxDim> merged) {
  std::size_t count = 0;
  for (const BoxDim& dim : dims) {
    BoxDim* const last = count > 0 ? &merged[count - 1] : nullptr;
    if (dim.extent == 1) {
      continue;
    }
    if (last != nullptr && last->from == dim.extent * dim.from && last->to == dim.extent * dim.to) {
      *last = {last->extent * dim.extent, dim.from, dim.to};
    } else {
      merged[count++] = dim;
    }
  }
  return count;
}

}  // namespace

Box::Box(const std::byte* from, std::byte* to, std::int64_t unit_bytes,
         std::span<const BoxDim> dims)
    : from_(from), to_(to), unit_(unit_bytes) {
  around_.fill({1, 0, 0});
  std::array<BoxDim, kMaxDims> merged{};
  std::size_t count = merge(dims, merged);
  const auto take = [&](std::size_t index) {
    const BoxDim dim = merged[index];
    std::copy(merged.begin() + static_cast<std::ptrdiff_t>(index) + 1, merged.end(),
              merged.begin() + static_cast<std::ptrdiff_t>(index));
    --count;
    return dim;
  };
  std::int64_t run = unit_;
  if (count > 0 && merged[count - 1].from == unit_ && merged[count - 1].to == unit_) {
    run *= take(count - 1).extent;
  }
  const bool element = unit_ == 2 || unit_ == 4 || unit_ == 8;
  if (run == unit_ && count > 0 && element) {
    form_ = TileForm::strided;
    column_ = take(count - 1);
    const auto found = std::find_if(
        merged.begin(), merged.begin() + static_cast<std::ptrdiff_t>(count),
        [&](const BoxDim& dim) { return dim.from == unit_ && dim.extent >= kMinTransposed; });
    const auto row = static_cast<std::size_t>(found - merged.begin());
    if (row < count && column_.to == unit_) {
      form_ = TileForm::transposed;
      row_ = take(row);
    }
  } else {
    unit_ = 1;
    column_ = {run, 1, 1};
  }
  if (form_ != TileForm::transposed && count > 0) {
    row_ = take(count - 1);
  }
  std::copy_n(merged.begin(), count, around_.begin());
  const std::int64_t units = kTileBytes / unit_;
  if (form_ == TileForm::transposed) {
    cut(kTransposedRows, kTransposedColumns);
    auto places = reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(row_.to);
    std::int64_t bytes = unit_ * row_.extent * column_.extent;
    for (const BoxDim& dim : std::span(merged).first(count)) {
      places |= static_cast<std::uintptr_t>(dim.to);
      bytes *= dim.extent;
    }
    streams_ = places % kLineBytes == 0 && bytes >= kStreamed;
  } else {
    const std::int64_t columns = std::clamp<std::int64_t>(column_.extent, 1, units);
    cut(units / columns, columns);
  }
}

void Box::cut(std::int64_t rows, std::int64_t columns) {
  tile_rows_ = rows;
  tile_columns_ = columns;
  const auto tiles_of = [](const BoxDim& dim, std::int64_t size) -> BoxDim {
    return {(dim.extent + size - 1) / size, size * dim.from, size * dim.to};
  };
  around_[kMaxDims - 2] = tiles_of(row_, rows);
  around_[kMaxDims - 1] = tiles_of(column_, columns);
}

std::int64_t Box::tiles() const {
  std::int64_t product = 1;
  for (const BoxDim& dim : around_) {
    product *= dim.extent;
  }
  return product;
}

void Box::plan(void (*run)(const Work&, std::int64_t, std::int64_t), Stage& stage) const {
  const auto units = static_cast<double>(std::min(tile_rows_, row_.extent) *
                                         std::min(tile_columns_, column_.extent));
  stage.run = run;
  stage.items = tiles();
  stage.item_ns = form_ == TileForm::strided ? units / kUnitsPerNs
                                             : 2 * units * static_cast<double>(unit_) / kBytesPerNs;
}

Units::Units(const HostTensor& tensor)
    : bytes(info_of(tensor.dtype()).block_bytes),
      dims(tensor.shape().padded()),
      strides(padded_strides(tensor)) {
  const std::int64_t block = info_of(tensor.dtype()).block_elements;
  strides[3] *= block;
  for (std::int64_t& stride : strides) {
    stride = stride / block * bytes;
  }
  dims[3] /= block;
}

Box box_of(const HostTensor& x, std::byte* to, const Units& y) {
  const Units units(x);
  std::array<BoxDim, Shape::kMaxRank> dims{};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    dims[i] = {units.dims[i], units.strides[i], y.strides[i]};
  }
  return {x.data, to, units.bytes, dims};
}

}  // namespace reprise::cpu
