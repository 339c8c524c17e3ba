// Support of a device for ops, asked before they are recorded.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/session/graph_executor.h"

namespace reprise {

/// How the device runs one op of a pass.
struct NodeSupport {
  std::uint32_t node = 0;
  std::string op, scope;
  SourceLocation where{};
  Support support;
};

/// Returns how the executor's device would run each op of a pass, in the executor's precision.
/// Records the pass and discards it: nothing runs, no tensor is touched; kernels may be compiled.
/// Errors: those of recording, as the ops have to be valid calls.
std::vector<NodeSupport> supports(GraphExecutor& executor, const RecordFunction& pass,
                                  SessionOptions session = {});

/// Returns the same for one call. `operands` has a spec per operand of the op, one of rank 0 for an
/// absent operand. `attributes` are the bytes of its attribute struct; none for ops without. A call
/// with other operands is unsupported too, and the reason says which the op takes.
/// Errors: unknown_name for an op that the library does not have.
Support supports(GraphExecutor& executor, std::string_view op, std::span<const TensorSpec> operands,
                 std::span<const std::byte> attributes = {});

}  // namespace reprise
