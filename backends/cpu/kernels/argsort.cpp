// argsort: a row as ranks, sorted by the bytes of their keys. It needs no vectors.
#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_pieces.h"
#include "backends/cpu/selection.h"

namespace reprise::cpu {
namespace {

struct Argsort {
  Rows x;
  std::int32_t* ids;
  bool descending;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Argsort>();
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  const std::span ranks(reinterpret_cast<Rank*>(work.own), cols);
  const std::span spare(ranks.data() + cols, cols);
  // The first of equal elements is the smallest of these ranks.
  const Rank turned = a.descending ? ~Rank{0} << 32U : 0;
  for (std::int64_t row = first; row < end; ++row) {
    for_each_piece(a.x.row(row, a.x.dims), a.x.strides[3], a.x.dims[3],
                   [&](const float* x, std::int64_t at, std::int64_t count) {
                     for (std::int64_t i = 0; i < count; ++i) {
                       const auto column = static_cast<std::uint32_t>(at + i);
                       ranks[column] = (Rank{key_of(x[i])} << 32U ^ turned) | column;
                     }
                   });
    sort_ranks(ranks, spare);
    std::int32_t* const to = a.ids + row * a.x.dims[3];
    for (std::size_t i = 0; i < cols; ++i) {
      to[i] = static_cast<std::int32_t>(ranks[i]);
    }
  }
}

}  // namespace

bool plan_argsort(const KernelCall& call, KernelPlan& plan) {
  const Argsort sort{.x = Rows(call.tensors[0]),
                     .ids = reinterpret_cast<std::int32_t*>(call.tensors[1].data),
                     .descending = attribute<bool>(call, "descending")};
  const auto cols = static_cast<std::uint64_t>(sort.x.dims[3]);
  plan.main = {.run = run,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 100 + static_cast<double>(cols) * 10};
  plan.own_bytes = 2 * cols * sizeof(Rank);
  plan.set_arguments(sort);
  return true;
}

}  // namespace reprise::cpu
