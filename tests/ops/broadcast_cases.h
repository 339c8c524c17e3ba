// Rows shared by the elementwise ops of two broadcasting operands.
#pragma once
#include "tests/ops/op_cases.h"

namespace reprise::testing {

using BroadcastOp = Tensor (*)(Site, TensorRef, TensorRef);
std::vector<OpCase> broadcast_cases(BroadcastOp op);

}  // namespace reprise::testing
