// The persistent tensors that sessions use without being given them, by what they are.
#pragma once
#include <vector>

#include "framework/session/executor/executor_core.h"
#include "framework/session/state/iteration_rows.h"
#include "framework/session/state/state_memory.h"

namespace reprise {

struct FrameworkTensor {
  StorageOrigin origin;
  Tensor tensor;
  /// Of sessions with that state block, empty or not, and those rows.
  static std::vector<FrameworkTensor> all(const ExecutorCore& core, const StateBlock& state,
                                          const IterationRows& rows);
};

}  // namespace reprise
