#include "reprise/session/support.h"

#include "framework/core/lowering.h"
#include "framework/graph/node_call.h"
#include "framework/session/device/unbacked_buffer.h"
#include "framework/session/record/attribute_bytes.h"
#include "framework/session/record/plan_pass.h"
#include "reprise/ops/op_named.h"

namespace reprise {
namespace {

Support support_of(const ComputeGraph& graph, std::uint32_t node, const Backend& backend,
                   const DeviceTraits& traits) {
  StepList steps;
  try {
    lower(NodeCall(graph, node).call(), traits, steps);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) {
      throw;
    }
    return {SupportKind::unsupported, error.what()};
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Support step = backend.support(steps, i);
    if (step.kind != SupportKind::native) {
      return step;
    }
  }
  return steps.size() == 1 ? Support()
                           : Support{SupportKind::lowered, std::to_string(steps.size()) + " steps"};
}

}  // namespace

std::vector<NodeSupport> supports(GraphExecutor& executor, const RecordFunction& pass,
                                  SessionOptions session) {
  const PassPlan plan = plan_pass(executor.core(), pass, std::move(session));
  const ComputeGraph& graph = plan.graph();
  std::vector<NodeSupport> all;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    all.push_back({n, std::string(node.op->name), graph.names.path(node.scope), node.where,
                   graph.host_steps.contains(n)
                       ? Support{SupportKind::lowered, "a function of the caller's on the host"}
                       : support_of(graph, n, executor.device().backend(), executor.traits())});
  }
  return all;
}

Support supports(GraphExecutor& executor, std::string_view op, std::span<const TensorSpec> operands,
                 std::span<const std::byte> attributes) {
  const OpDef* def = op_named(op);
  if (def == nullptr) {
    throw_error(ErrorCode::unknown_name, "There is no op named (", op, ").");
  }
  if (operands.size() != def->operands.size()) {
    throw_invalid_argument(op, " has (", def->operands.size(), ") operands, but specs of ",
                           operands.size(), " are given.");
  }
  std::vector<std::byte> padded(attributes.begin(), attributes.end());
  padded.resize((padded.size() + 7) / 8 * 8);  // as files have them
  require_attributes(*def, padded, {});
  try {
    const auto nodes = supports(executor, [&](GraphSession& s) {
      std::vector<Tensor> tensors;
      for (const TensorSpec& spec : operands) {
        tensors.push_back(spec.shape.rank() == 0 ? Tensor() : unbacked("operand", spec));
      }
      const std::vector<TensorRef> inputs(tensors.begin(), tensors.end());
      std::vector<Tensor> results(Outputs::kMax);
      s.call({s, *def, inputs, padded, {}}, results);
    });
    return nodes.at(0).support;
  } catch (const Error& error) {
    return {SupportKind::unsupported, error.what()};
  }
}

}  // namespace reprise
