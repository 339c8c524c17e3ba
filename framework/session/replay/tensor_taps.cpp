#include "framework/session/replay/tensor_taps.h"

#include <algorithm>
#include <fnmatch.h>

#include "framework/graph/make_plan.h"
#include "framework/graph/tensor_names.h"
#include "framework/session/device/staging.h"
#include "framework/session/state/extents.h"

namespace reprise {
namespace {

/// The last step of what runs with each rank.
std::vector<std::uint32_t> last_steps(const ExecutionPlan& plan) {
  std::vector<std::uint32_t> last;
  for (std::uint32_t s = 0; s < plan.steps.size(); ++s) {
    const std::uint32_t rank = plan.ranks[plan.steps[s].node];
    last.resize(std::max<std::size_t>(last.size(), rank + 1), kNoIndex);
    last[rank] = s;
  }
  return last;
}

}  // namespace

TapList find_taps(const ExecutionPlan& plan, const TensorWatch& watch, std::uint64_t max_bytes) {
  const ComputeGraph& graph = *plan.graph;
  const std::vector<std::string> names = tensor_names(graph);
  const std::vector<std::uint32_t> last = last_steps(plan);
  TapList list;
  const auto add = [&](std::uint32_t tensor, std::uint32_t node, std::uint32_t table) {
    const TensorSpec& spec = graph.tensors[tensor].spec;
    const Place& place = plan.places[graph.tensors[tensor].storage];
    if (!spec.contiguous() || spec.bytes() == 0 || place.first_step == kNoIndex) {
      return;
    }
    const std::uint64_t end = staging_aligned(list.bytes + spec.bytes());
    if (end > max_bytes) {
      ++list.left_out;
      return;
    }
    list.taps.push_back({tensor, node, last[plan.ranks[node]], place.pool,
                         place.offset + graph.tensors[tensor].offset, spec.bytes(), list.bytes,
                         table});
    list.bytes = end;
  };
  for (const std::uint32_t n : running_order(plan)) {
    const Node& node = graph.nodes[n];
    const std::uint32_t rank = plan.ranks[n];
    if (rank >= last.size() || last[rank] == kNoIndex) {
      continue;
    }
    const auto in_slot = [&](std::int8_t slot) {  // negative: none
      return graph.tensor_at(n, static_cast<std::size_t>(slot));
    };
    if (const std::uint32_t numbers = in_slot(node.op->row_numbers.numbers);
        watch.rows_outside && numbers != kNoIndex) {
      add(numbers, n, in_slot(node.op->row_numbers.table));
    }
    for (const Use& use : graph.uses_of(node)) {
      if (use.slot >= node.op->operands.size() && writes(use.access) &&
          !graph.storages[graph.tensors[use.tensor].storage].is_persistent() &&
          fnmatch(watch.tensors.c_str(), names[use.tensor].c_str(), 0) == 0) {
        add(use.tensor, n, kNoIndex);
      }
    }
  }
  std::ranges::stable_sort(list.taps, {}, &Tap::after_step);
  return list;
}

std::int64_t rows_of(const ExecutionPlan& plan, const Tap& tap,
                     std::span<const std::uint32_t> state) {
  const Shape shape = settled(plan.graph->tensors[tap.table].spec, state).shape;
  const std::int8_t dim = plan.graph->nodes[tap.node].op->row_numbers.dim;
  return shape.dim(dim < 0 ? shape.rank() - static_cast<std::size_t>(-dim)
                           : static_cast<std::size_t>(dim));
}

void encode_taps(Encoder& encoder, TapStaging& rest, std::uint32_t step,
                 std::span<const std::shared_ptr<Buffer>> pools) {
  std::vector<StagedCopy> copies;
  for (; !rest.taps.empty() && rest.taps.front().after_step == step;
       rest.taps = rest.taps.subspan(1)) {
    const Tap& tap = rest.taps.front();
    copies.push_back({tap.staging_offset, pools[tap.pool], tap.offset, tap.bytes});
  }
  if (!copies.empty()) {
    encoder.barrier();
    encode_downloads(encoder, rest.staging, copies);
    encoder.barrier();  // the plan's own may lie between the steps of the node that wrote it
  }
}

}  // namespace reprise
