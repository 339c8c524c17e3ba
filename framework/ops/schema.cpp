#include "framework/ops/schema.h"

namespace reprise::ops {

void require_rank(const OpCall& call, std::size_t operand, std::size_t rank) {
  const std::size_t actual = call.inputs[operand].shape().rank();
  if (actual != rank) {
    throw_invalid_argument(call.op.name, " needs rank ", rank, ", but ", describe(call, operand),
                           " has rank (", actual, ").");
  }
}

void require_equal_columns(const OpCall& call, std::size_t a, std::size_t b) {
  const std::int64_t columns_a = call.inputs[a].shape().back();
  const std::int64_t columns_b = call.inputs[b].shape().back();
  if (columns_a != columns_b) {
    throw_invalid_argument(call.op.name, " needs equal last dimensions, but ", describe(call, a),
                           " has (", columns_a, ") columns and ", describe(call, b), " has (",
                           columns_b, ").");
  }
}

void require_row(const OpCall& call, std::size_t a, std::size_t operand) {
  if (call.inputs[operand]) {
    require_rank(call, operand, 1);
    require_equal_columns(call, a, operand);
  }
}

void require_pair(bool condition, const OpCall& call, std::string_view what, std::size_t a,
                  std::size_t b) {
  if (!condition) {
    throw_invalid_argument(call.op.name, " needs ", what, ", but got ", describe(call, a), " and ",
                           describe(call, b), ".");
  }
}

}  // namespace reprise::ops
