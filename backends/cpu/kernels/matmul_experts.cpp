// matmul_experts: products are sorted by where their weights lie, so that those of one expert
// follow each other and read a tile of its weights together. How they are grouped changes no bit:
// the order of additions is the one of a single row of x.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/matmul_experts.cpp"
#include <algorithm>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/rounded_super-inl.h"
#include "backends/cpu/kernels/weight_formats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Experts {
  const float* x;
  const std::byte* w;
  const std::int32_t* ids;
  const std::int32_t* cells;  // null: ids are cells
  const float* missing;       // null: zeros
  float* y;
  std::int64_t products, used;
  std::int64_t m, k;
  std::int64_t x_row, x_expert;  // strides in elements; x_expert 0: a row of x is that of all
  std::int64_t w_cell, w_row;    // in bytes
  std::int64_t all_cells, experts;

  TiledRows rows() const { return TiledRows(m); }
  std::int64_t tiles() const { return rows().tiles(); }
  /// Rows of x that differ.
  std::int64_t x_rows() const { return x_expert == 0 ? products / used : products; }
  std::int64_t x_row_of(std::int64_t product) const {
    return x_expert == 0 ? product / used : product;
  }
  const float* row_of_x(std::int64_t row) const {
    return x_expert == 0 ? x + row * x_row : x + row / used * x_row + row % used * x_expert;
  }
  /// -1: the expert is not there.
  std::int64_t cell_of(std::int64_t product) const {
    const std::int64_t id = ids[product];
    if (id < 0 || id >= experts) {
      return -1;
    }
    const std::int64_t cell = cells == nullptr ? id : cells[id];
    return cell < 0 || cell >= all_cells ? -1 : cell;
  }
};

/// A product in the order of their cells, and which of them have the same one.
struct Pick {
  std::int64_t product, cell;
  std::int64_t first, end;
};

std::uint64_t pick_bytes(const Experts& e) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(e.products) * sizeof(Pick);
  return (bytes + 63) / 64 * 64;
}

void sort_picks(const Experts& e, Pick* picks) {
  for (std::int64_t i = 0; i < e.products; ++i) {
    picks[i] = {.product = i, .cell = e.cell_of(i), .first = 0, .end = 0};
  }
  std::sort(picks, picks + e.products, [](const Pick& a, const Pick& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.product < b.product;
  });
  for (std::int64_t i = 0, end = 0; i < e.products; i = end) {
    while (end < e.products && picks[end].cell == picks[i].cell) {
      ++end;
    }
    for (std::int64_t j = i; j < end; ++j) {
      picks[j].first = i;
      picks[j].end = end;
    }
  }
}

/// Item 0 sorts.
void prepare(const Work& work, std::int64_t first, std::int64_t end) {
  if (first == 0 && end > 0) {
    sort_picks(work.as<Experts>(), reinterpret_cast<Pick*>(work.shared));
  }
}

/// Item 0 sorts, the others round rows of x.
template <class W>
void prepare_rounded(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& e = work.as<Experts>();
  const auto k = static_cast<std::size_t>(e.k);
  prepare(work, first, end);
  for (std::int64_t row = std::max<std::int64_t>(first, 1) - 1; row < end - 1; ++row) {
    const RoundedRow to(
        work.shared + pick_bytes(e) + static_cast<std::size_t>(row) * RoundedRow::bytes(k), k);
    round_row<W>(e.row_of_x(row), k, to);
    lay_out_quads<W>(k, to);
  }
}

/// Rows of x as they are.
template <class W>
struct ExactRows {
  static constexpr std::size_t kMost = kTileVectors;
  template <std::size_t kVectors>
  static HWY_INLINE void multiply(const Work& /*work*/, const Experts& e, const Pick* picks,
                                  const TileWeights& w, hn::Vec<Four> (&sums)[kVectors]) {
    const float* rows[kVectors];
    for (std::size_t j = 0; j < kVectors; ++j) {
      rows[j] = e.row_of_x(e.x_row_of(picks[j].product));
    }
    dot_tile<W, kVectors, TileOrder::alike>(w, rows, static_cast<std::size_t>(e.k), sums);
  }
};

/// Those that prepare_rounded() has rounded.
template <class W>
struct RoundedRows {
  static constexpr std::size_t kMost = 2;
  static HWY_INLINE RoundedRow row(const Work& work, const Experts& e, const Pick& pick) {
    const auto k = static_cast<std::size_t>(e.k);
    const auto row = static_cast<std::size_t>(e.x_row_of(pick.product));
    return {work.shared + pick_bytes(e) + row * RoundedRow::bytes(k), k};
  }
  template <std::size_t kVectors>
  static HWY_INLINE void multiply(const Work& work, const Experts& e, const Pick* picks,
                                  const TileWeights& w, hn::Vec<Four> (&sums)[kVectors]) {
    const auto k = static_cast<std::size_t>(e.k);
    if constexpr (kVectors == 1) {
      const RoundedRow rows[1] = {row(work, e, picks[0])};
      multiply_rounded<W, 1>(w, rows, k, sums);
    } else {
      const RoundedRow rows[2] = {row(work, e, picks[0]), row(work, e, picks[1])};
      multiply_rounded<W, 2>(w, rows, k, sums);
    }
  }
};

template <class Rows, std::size_t kVectors>
HWY_INLINE void multiply_picks(const Work& work, const Experts& e, const Pick* picks,
                               const TileWeights& w, std::int64_t tile) {
  hn::Vec<Four> sums[kVectors];
  Rows::template multiply<kVectors>(work, e, picks, w, sums);
  for (std::size_t j = 0; j < kVectors; ++j) {
    e.rows().store(tile, sums[j], nullptr, e.y + picks[j].product * e.m + tile);
  }
}

void leave_out(const Experts& e, const Pick& pick, std::int64_t tile) {
  for (std::size_t i = 0; e.rows().has(tile, i); ++i) {
    const std::int64_t at = pick.product * e.m + tile + static_cast<std::int64_t>(i) * e.tiles();
    e.y[at] = e.missing == nullptr ? 0 : e.missing[at];
  }
}

/// Items are tiles of products: of an expert its first tile with all its products, then the next.
template <class Rows>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& e = work.as<Experts>();
  const auto* picks = reinterpret_cast<const Pick*>(work.shared);
  for (std::int64_t item = first; item < end;) {
    const Pick expert = picks[item / e.tiles()];
    const std::int64_t alike = expert.end - expert.first;
    const std::int64_t inside = item - expert.first * e.tiles();
    const std::int64_t tile = inside / alike;
    std::int64_t pick = expert.first + inside % alike;
    const std::int64_t last = std::min(expert.end, pick + end - item);
    item += last - pick;
    if (expert.cell < 0) {
      for (; pick < last; ++pick) {
        leave_out(e, picks[pick], tile);
      }
      continue;
    }
    const TileWeights w = e.rows().weights(tile, e.w + expert.cell * e.w_cell, e.w_row);
    for (; pick + std::int64_t{Rows::kMost} <= last; pick += std::int64_t{Rows::kMost}) {
      multiply_picks<Rows, Rows::kMost>(work, e, picks + pick, w, tile);
    }
    for (; pick < last; ++pick) {
      multiply_picks<Rows, 1>(work, e, picks + pick, w, tile);
    }
  }
}

template <class W>
bool plan_exact(KernelPlan& plan) {
  plan.main.run = run<ExactRows<W>>;
  return true;
}

template <class W>
bool plan_blocks(const Experts& e, Precision precision, KernelPlan& plan) {
  if constexpr (kTakesRounded<W>) {
    if (precision == Precision::fast) {
      const auto k = static_cast<std::size_t>(e.k);
      plan.prepare = {prepare_rounded<W>, 1 + e.x_rows(), static_cast<double>(e.k) / 4};
      plan.shared_bytes += static_cast<std::uint64_t>(e.x_rows()) * RoundedRow::bytes(k);
      plan.main.run = run<RoundedRows<W>>;
      return true;
    }
  }
  return plan_exact<W>(plan);
}

bool plan_format(const Experts& e, const KernelCall& call, KernelPlan& plan) {
  return with_weights(
      call.tensors[1].dtype(), [&](auto w) { return plan_exact<decltype(w)>(plan); },
      [&](auto w) { return plan_blocks<decltype(w)>(e, call.precision, plan); });
}

}  // namespace

bool plan_matmul_experts(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& w = call.tensors[1];
  const HostTensor& ids = call.tensors[2];
  const HostTensor& cells = call.tensors[3];
  const auto xs = padded_strides(x);
  const auto ws = padded_strides(w);
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::int64_t>(bytes_of(w.dtype(), static_cast<std::uint64_t>(elements)));
  };
  const Experts e{.x = reinterpret_cast<const float*>(x.data),
                  .w = w.data,
                  .ids = reinterpret_cast<const std::int32_t*>(ids.data),
                  .cells = reinterpret_cast<const std::int32_t*>(cells.data),
                  .missing = reinterpret_cast<const float*>(call.tensors[4].data),
                  .y = reinterpret_cast<float*>(call.tensors[5].data),
                  .products = ids.shape().elements(),
                  .used = ids.shape().dim(1),
                  .m = w.shape().dim(1),
                  .k = w.shape().dim(2),
                  .x_row = xs[1],
                  .x_expert = x.shape().dim(1) == 1 ? 0 : xs[2],
                  .w_cell = bytes(ws[1]),
                  .w_row = bytes(ws[2]),
                  .all_cells = w.shape().dim(0),
                  .experts = cells ? cells.shape().dim(0) : w.shape().dim(0)};
  plan.shared_bytes = pick_bytes(e);
  plan.prepare = {prepare, 1, static_cast<double>(e.products) * 10};
  plan.main.items = e.products * e.tiles();
  plan.main.item_ns = static_cast<double>(kTileRows) *
                      (static_cast<double>(e.w_row) / 12 + static_cast<double>(e.k) / 20);
  plan.set_arguments(e);
  return plan_format(e, call, plan);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(matmul_experts)
#endif
