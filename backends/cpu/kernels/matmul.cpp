// matmul: few rows of x by dot products over rows of weights as they lie in memory, many rows by
// panels of decoded weights.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/matmul.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/panels-inl.h"
#include "backends/cpu/kernels/plan_product-inl.h"
#include "backends/cpu/kernels/rounded_panels-inl.h"
#include "backends/cpu/kernels/rounded_super-inl.h"
#include "backends/cpu/kernels/weight_formats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

/// From as many rows on, decoding weights into panels is repaid.
constexpr std::int64_t kManyRows = 16;

/// Rows of x as they are.
template <class W>
struct ExactTiles {
  ExactTiles(const Work& /*work*/, const Product& p, std::int64_t /*batch*/, const float* x)
      : x_(x), x_row_(p.x_row), k_(static_cast<std::size_t>(p.k)) {}
  template <std::size_t kVectors>
  HWY_INLINE void multiply(const TileWeights& w, std::int64_t n,
                           hn::Vec<Four> (&sums)[kVectors]) const {
    const float* rows[kVectors];
    for (std::size_t j = 0; j < kVectors; ++j) {
      rows[j] = x_ + (n + static_cast<std::int64_t>(j)) * x_row_;
    }
    dot_tile<W, kVectors>(w, rows, k_, sums);
  }

 private:
  const float* x_;
  std::int64_t x_row_;
  std::size_t k_;
};

/// Rows of x that round_rows() has rounded.
template <class W>
struct RoundedTiles {
  RoundedTiles(const Work& work, const Product& p, std::int64_t batch, const float* /*x*/)
      : k_(static_cast<std::size_t>(p.k)),
        x_(work.shared + static_cast<std::size_t>(batch * p.n) * RoundedRow::bytes(k_)) {}
  template <std::size_t kVectors>
  HWY_INLINE void multiply(const TileWeights& w, std::int64_t n,
                           hn::Vec<Four> (&sums)[kVectors]) const {
    std::byte* first = x_ + static_cast<std::size_t>(n) * RoundedRow::bytes(k_);
    if constexpr (kVectors == 1) {
      const RoundedRow rows[1] = {RoundedRow(first, k_)};
      multiply_rounded<W, 1>(w, rows, k_, sums);
    } else {
      const RoundedRow rows[2] = {RoundedRow(first, k_),
                                  RoundedRow(first + RoundedRow::bytes(k_), k_)};
      multiply_rounded<W, 2>(w, rows, k_, sums);
    }
  }

 private:
  std::size_t k_;
  std::byte* x_;
};

/// Items are rows of x in all leading dimensions.
template <class W>
void round_rows(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& p = work.as<Product>();
  const auto k = static_cast<std::size_t>(p.k);
  for (std::int64_t row = first; row < end; ++row) {
    const RoundedRow to(work.shared + static_cast<std::size_t>(row) * RoundedRow::bytes(k), k);
    round_row<W>(Matrices(p, row / p.n).x + row % p.n * p.x_row, k, to);
    if (p.n < kManyRows) {
      lay_out_quads<W>(k, to);
    }
  }
}

template <class Tiles, std::size_t kVectors>
HWY_INLINE void multiply_tile_rows(const Tiles& tiles, const TileWeights& w, std::int64_t n,
                                   const Product& p, const Matrices& at, const TiledRows& rows,
                                   std::int64_t tile) {
  hn::Vec<Four> sums[kVectors];
  tiles.template multiply<kVectors>(w, n, sums);
  for (std::size_t j = 0; j < kVectors; ++j) {
    const std::int64_t row = n + static_cast<std::int64_t>(j);
    rows.store(tile, sums[j],
               at.residual == nullptr ? nullptr : at.residual + row * p.residual_row + tile,
               at.y + row * p.y_row + tile);
  }
}

/// Items are tiles of w, of the leading dimensions one after another.
template <class Tiles, std::size_t kMaxVectors>
void run_tiles(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& p = work.as<Product>();
  const TiledRows rows(p.m);
  for (std::int64_t batch = first / rows.tiles(); batch * rows.tiles() < end; ++batch) {
    const Matrices at(p, batch);
    const Tiles tiles(work, p, batch, at.x);
    const std::int64_t last = std::min(rows.tiles(), end - batch * rows.tiles());
    for (std::int64_t tile = std::max<std::int64_t>(first - batch * rows.tiles(), 0); tile < last;
         ++tile) {
      const TileWeights w = rows.weights(tile, at.w, p.w_row);
      std::int64_t n = 0;
      for (; n + std::int64_t{kMaxVectors} <= p.n; n += std::int64_t{kMaxVectors}) {
        multiply_tile_rows<Tiles, kMaxVectors>(tiles, w, n, p, at, rows, tile);
      }
      for (; n < p.n; ++n) {
        multiply_tile_rows<Tiles, 1>(tiles, w, n, p, at, rows, tile);
      }
    }
  }
}

void plan_panels(const Product& p, std::int64_t batches, KernelPlan& plan) {
  plan.main.items = batches * panels(p) * row_blocks(p);
  const auto rows = static_cast<double>(p.n) / static_cast<double>(row_blocks(p));
  plan.main.item_ns = static_cast<double>(p.k) * rows * static_cast<double>(kPanelColumns) / 50;
}

void plan_tiles(const Product& p, std::int64_t batches, KernelPlan& plan) {
  plan.main.items = batches * TiledRows(p.m).tiles();
  plan.main.item_ns =
      static_cast<double>(kTileRows) * (static_cast<double>(p.w_row) / 12 +
                                        static_cast<double>(p.k) * static_cast<double>(p.n) / 20);
}

template <class W>
bool plan_exact(const Product& p, std::int64_t batches, KernelPlan& plan) {
  if (p.n >= kManyRows) {
    plan_panels(p, batches, plan);
    plan.main.run = run_panels<multiply_rows<W>>;
    plan.own_bytes = kPanelDepth * kPanelColumns * sizeof(float);
  } else {
    plan_tiles(p, batches, plan);
    plan.main.run = run_tiles<ExactTiles<W>, kTileVectors>;
  }
  return true;
}

#if !REPRISE_BYTE_SUMS
template <class W>
constexpr bool kHasRoundedPanels = false;
#endif

template <class W>
bool plan_blocks(const Product& p, std::int64_t batches, Precision precision, KernelPlan& plan) {
  const bool many = p.n >= kManyRows;
  if constexpr (kTakesRounded<W>) {
    if (precision == Precision::fast && (!many || kHasRoundedPanels<W>)) {
      const auto k = static_cast<std::size_t>(p.k);
      plan.prepare = {round_rows<W>, batches * p.n, static_cast<double>(p.k) / 4};
      plan.shared_bytes = static_cast<std::uint64_t>(batches * p.n) * RoundedRow::bytes(k);
#if REPRISE_BYTE_SUMS
      if constexpr (kHasRoundedPanels<W>) {
        if (many) {
          plan_panels(p, batches, plan);
          plan.main.run = run_panels<multiply_rounded_rows<W>>;
          plan.main.item_ns /= 2;
          plan.own_bytes = kPanelBlocks * sizeof(PanelBlock);
          return true;
        }
      }
#endif
      plan_tiles(p, batches, plan);
      plan.main.run = run_tiles<RoundedTiles<W>, 2>;
      return true;
    }
  }
  return plan_exact<W>(p, batches, plan);
}

}  // namespace

bool plan_product(const Product& p, DType weights, Precision precision, KernelPlan& plan) {
  plan.set_arguments(p);
  const std::int64_t batches = p.outer * p.inner;
  return with_weights(
      weights, [&](auto w) { return plan_exact<decltype(w)>(p, batches, plan); },
      [&](auto w) { return plan_blocks<decltype(w)>(p, batches, precision, plan); });
}

bool plan_matmul(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& w = call.tensors[1];
  return plan_product(product_of(call.tensors[0], w, call.tensors[2], call.tensors[3]), w.dtype(),
                      call.precision, plan);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(matmul)
#endif
