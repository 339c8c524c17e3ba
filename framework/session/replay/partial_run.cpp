#include "reprise/session/partial_run.h"

#include "framework/graph/make_plan.h"
#include "framework/graph/structure_hash.h"
#include "framework/session/replay/recording.h"

namespace reprise {
namespace {

struct Bytes {
  std::uint64_t begin, end;
};

/// Where a tensor lies in its pool.
Bytes bytes_of(const ExecutionPlan& plan, const GraphTensor& tensor) {
  const std::uint64_t begin = plan.places[tensor.storage].offset + tensor.offset;
  return {begin, begin + tensor.spec.span_bytes()};
}

/// Whether a step uses it, or there is nothing to use.
bool has_memory(const ExecutionPlan& plan, const GraphTensor& tensor) {
  return tensor.spec.bytes() == 0 || plan.places[tensor.storage].first_step != kNoIndex;
}

std::string describe(const ComputeGraph& graph, std::uint32_t tensor) {
  const GraphTensor& t = graph.tensors[tensor];
  const std::string_view name = graph.names.text(t.name);
  return "Tensor (" + std::to_string(tensor) + ") " +
         (name.empty() ? "" : "'" + std::string(name) + "' ") + to_string(t.spec);
}

/// Transients live in the arena only from their first step to their last one.
void require_there(const ExecutionPlan& plan, std::uint32_t tensor, std::uint32_t last_node) {
  const ComputeGraph& graph = *plan.graph;
  const GraphTensor& t = graph.tensors[tensor];
  const Bytes range = bytes_of(plan, t);
  const std::vector<std::uint32_t>& ranks = plan.ranks;
  const auto after_the_run = [&](std::uint32_t n) { return ranks[n] > ranks[last_node]; };
  bool written = false;
  for (const std::uint32_t n : running_order(plan)) {
    for (const Use& use : graph.uses_of(graph.nodes[n])) {
      const GraphTensor& other = graph.tensors[use.tensor];
      if (!writes(use.access)) {
        continue;
      }
      if (other.storage == t.storage) {
        if (!written && after_the_run(n)) {
          throw_invalid_argument(describe(graph, tensor), " is computed by ",
                                 describe_node(graph, n),
                                 ", which is after the last node that ran (", last_node, ").");
        }
        written = true;
        continue;
      }
      const Bytes taken = bytes_of(plan, other);
      if (written && has_memory(plan, other) && !after_the_run(n) &&
          !graph.storages[other.storage].is_persistent() && taken.begin < range.end &&
          range.begin < taken.end) {
        throw_invalid_argument(
            describe(graph, tensor), " is gone: ", describe_node(graph, n),
            " uses its memory. Run a shorter prefix, or record it as an output.");
      }
    }
  }
  if (!written) {
    throw_invalid_argument(describe(graph, tensor), " is computed by a node that a pass removed.");
  }
  if (!has_memory(plan, t)) {
    throw_invalid_argument(describe(graph, tensor),
                           " is in no memory: what computes it was fused with what reads "
                           "it.");
  }
}

}  // namespace

const TensorSpec& PartialRun::spec_of(std::uint32_t tensor) const {
  const ComputeGraph& graph = recording_->graph();
  if (tensor >= graph.tensors.size()) {
    throw_invalid_argument("The graph '", graph.name, "' has no tensor (", tensor, "); it has ",
                           graph.tensors.size(), ".");
  }
  return graph.tensors[tensor].spec;
}

std::string PartialRun::name_of(std::uint32_t tensor) const {
  return describe(recording_->graph(), tensor);
}

std::uint32_t PartialRun::result_of(std::uint32_t node, std::uint32_t result) const {
  const ComputeGraph& graph = recording_->graph();
  if (node < graph.nodes.size()) {
    const std::size_t slot = graph.nodes[node].op->operands.size() + result;
    for (const Use& use : graph.uses_of(graph.nodes[node])) {
      if (use.slot == slot && writes(use.access)) {
        return use.tensor;
      }
    }
  }
  throw_invalid_argument("The graph '", graph.name, "' has no result (", result, ") of ",
                         describe_node(graph, node), ".");
}

std::vector<std::byte> PartialRun::bytes(std::uint32_t tensor) const {
  const ExecutionPlan& plan = recording_->plan();
  const TensorSpec& spec = spec_of(tensor);
  const GraphTensor& t = plan.graph->tensors[tensor];
  const Storage& storage = plan.graph->storages[t.storage];
  if (run_ != recording_->runs()) {
    throw_invalid_argument("The graph '", plan.graph->name,
                           "' ran again since, and its memory holds other values.");
  }
  if (!spec.contiguous()) {
    throw_invalid_argument(describe(*plan.graph, tensor), " is a strided view; read tensor (",
                           t.alias_of, "), of which it is one.");
  }
  if (!storage.is_persistent() && !storage.input) {
    require_there(plan, tensor, node_);
  }
  std::vector<std::byte> bytes(spec.bytes());
  if (!bytes.empty()) {
    recording_->device().read(recording_->memory().buffer_of(t.storage), bytes_of(plan, t).begin,
                              bytes);
  }
  return bytes;
}

}  // namespace reprise
