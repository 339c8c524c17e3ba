// The op of host steps, for sessions, which run them.
#pragma once
#include "framework/core/op.h"
#include "reprise/core/host_step.h"

namespace reprise::ops {

/// For sessions, which run it themselves: its steps are of kind `call`, and no backend sees them.
extern const OpDef host_step_def;
/// For sessions: the attributes of a call while it is recorded. Tensors of the node, by slot.
struct HostStepAttributes {
  HostStep* step = nullptr;  // the session moves from it
};
inline constexpr std::size_t kHostStepInputs = 7;
inline constexpr std::size_t kHostStepInPlace = kHostStepInputs;
inline constexpr std::size_t kHostStepFirstOutput = kHostStepInPlace + 1;

}  // namespace reprise::ops
