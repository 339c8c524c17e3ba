#include "framework/session/tensor_taps.h"

#include <algorithm>
#include <fnmatch.h>

#include "framework/session/slot_encodings.h"
#include "reprise/graph/tensor_names.h"

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

TapList find_taps(const RecordedGraph& recorded, const std::string& pattern,
                  std::uint64_t most_bytes) {
  const ComputeGraph& graph = recorded.graph;
  const ExecutionPlan& plan = recorded.plan;
  const std::vector<std::string> names = tensor_names(graph);
  const std::vector<std::uint32_t> last = last_steps(plan);
  TapList list;
  for (const std::uint32_t n : running_order(plan)) {
    const std::uint32_t rank = plan.ranks[n];
    if (rank >= last.size() || last[rank] == kNoIndex) {
      continue;
    }
    for (const Use& use : graph.uses_of(graph.nodes[n])) {
      const GraphTensor& tensor = graph.tensors[use.tensor];
      const Place& place = plan.places[tensor.storage];
      if (use.slot < graph.nodes[n].op->operands.size() || !writes(use.access) ||
          graph.storages[tensor.storage].kind != StorageKind::transient ||
          !tensor.spec.contiguous() || tensor.spec.bytes() == 0 || place.first_step == kNoIndex ||
          fnmatch(pattern.c_str(), names[use.tensor].c_str(), 0) != 0) {
        continue;
      }
      const std::uint64_t end = staging_aligned(list.bytes + tensor.spec.bytes());
      if (end > most_bytes) {
        ++list.left_out;
        continue;
      }
      list.taps.push_back({use.tensor, n, last[rank], place.pool, place.offset + tensor.offset,
                           tensor.spec.bytes(), list.bytes});
      list.bytes = end;
    }
  }
  std::ranges::stable_sort(list.taps, {}, &Tap::after_step);
  return list;
}

TensorSpec spec_of(const RecordedGraph& recorded, const Tap& tap,
                   std::span<const std::uint32_t> state) {
  TensorSpec spec = recorded.graph.tensors[tap.tensor].spec;
  if (!spec.shape.fixed()) {
    spec.shape = spec.shape.with_front(state[spec.shape.extent_word()]);
  }
  return spec;
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
