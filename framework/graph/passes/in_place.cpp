#include "framework/core/op.h"
#include "framework/graph/run_passes.h"

namespace reprise {
namespace {

class InPlace {
 public:
  InPlace(const ComputeGraph& graph, ExecutionPlan& plan, std::span<const std::uint32_t> epochs,
          std::span<std::uint32_t> homes)
      : graph_(graph),
        plan_(plan),
        epochs_(epochs),
        homes_(homes),
        last_use_(graph.storages.size(), kNoIndex) {}

  bool find() {
    bool any = false;
    const StepList& steps = plan_.steps;
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
      const Step& step = steps[s];
      if (step.op != nullptr && step.op->overwrites >= 0) {
        any = take_over(s) || any;
      }
      for (const Binding& binding : steps.bindings(step)) {
        if (binding.bytes != 0) {
          last_use_[binding.pool] = s;
        }
      }
    }
    return any;
  }

 private:
  const GraphTensor& tensor_at(const ScheduledCall& call, std::size_t slot) const {
    const Use* use = call.use_at(slot);
    return graph_.tensors[(use != nullptr ? *use : call.uses[0]).tensor];
  }

  /// Why the operand has to stay; empty if its memory is free to take.
  std::string_view reason_against(std::uint32_t s, const GraphTensor& from, const GraphTensor& to) {
    const Storage& old = graph_.storages[from.storage];
    const Storage& fresh = graph_.storages[to.storage];
    if (old.is_persistent() || fresh.is_persistent()) {
      return "a persistent tensor stays";
    }
    if (old.input || old.output) {
      return "inputs and outputs of the graph stay";
    }
    if (plan_.places[from.storage].last_step != s) {
      return "a later step reads the operand";
    }
    if (plan_.places[to.storage].first_step != s || from.offset != 0 || to.offset != 0 ||
        from.spec.bytes() != old.bytes || to.spec.bytes() != fresh.bytes ||
        !from.spec.contiguous() || from.spec.bytes() != to.spec.bytes()) {
      return "they are not the same bytes, each alone in its memory";
    }
    std::uint32_t uses = 0;
    for (const Binding& binding : plan_.steps.bindings(plan_.steps[s])) {
      uses += binding.bytes != 0 && binding.pool == from.storage ? 1U : 0U;
    }
    if (uses != 1) {
      return "the step reads the operand in another way too";
    }
    if (last_use_[from.storage] == kNoIndex) {
      return "no step wrote the operand";
    }
    if (!epochs_.empty() && epochs_[last_use_[from.storage]] == epochs_[s]) {
      return "another step reads it without a barrier between them";
    }
    return {};
  }

  bool take_over(std::uint32_t s) {
    const Step& step = plan_.steps[s];
    if ((s > 0 && plan_.steps[s - 1].node == step.node) ||
        (s + 1 < plan_.steps.size() && plan_.steps[s + 1].node == step.node)) {
      return false;  // of several steps, others may read what one of them overwrote
    }
    const ScheduledCall call = scheduled_call(graph_, plan_.fused, step.node);
    const GraphTensor& from = tensor_at(call, static_cast<std::size_t>(step.op->overwrites));
    const GraphTensor& to = tensor_at(call, step.op->operands.size());
    const std::string_view against = reason_against(s, from, to);
    plan_.decisions.push_back({"in_place", "shared", step.node, against.empty(),
                               std::string(against.empty() ? "its operand ends here" : against)});
    if (!against.empty()) {
      return false;
    }
    homes_[to.storage] = homes_[from.storage];
    return true;
  }

  const ComputeGraph& graph_;
  ExecutionPlan& plan_;
  std::span<const std::uint32_t> epochs_;
  std::span<std::uint32_t> homes_;
  std::vector<std::uint32_t> last_use_;  // by storage: the last step so far
};

}  // namespace

bool find_in_place(const ComputeGraph& graph, ExecutionPlan& plan,
                   std::span<const std::uint32_t> epochs, std::span<std::uint32_t> homes) {
  return InPlace(graph, plan, epochs, homes).find();
}

}  // namespace reprise
