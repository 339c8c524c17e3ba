// Whether and how a device runs ops, asked before they are recorded.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/session/graph_executor.h"

namespace reprise {

/// Of one op of a pass.
struct NodeSupport {
  std::uint32_t node = 0;
  std::string op, scope;
  SourceLocation where{};
  Support support;
};

/// How the executor's device would run each op of a pass, in the executor's precision. The pass is
/// recorded and thrown away: nothing runs, no tensor is touched; kernels may be compiled. Throws
/// what recording throws: only ops that are valid calls are asked about.
std::vector<NodeSupport> supports(GraphExecutor& executor, const RecordFunction& pass,
                                  SessionOptions session = {});

/// The same of one call: `operands` has a spec per operand of the op, one of rank 0 for what is
/// absent. `attributes`: the bytes of its attribute struct; none for ops without. An op that takes
/// other operands is unsupported too, and the reason says which.
/// Errors: unknown_name for an op that the library does not have.
Support supports(GraphExecutor& executor, std::string_view op, std::span<const TensorSpec> operands,
                 std::span<const std::byte> attributes = {});

}  // namespace reprise
