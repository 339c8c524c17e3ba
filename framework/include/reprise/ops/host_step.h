#pragma once
#include "reprise/core/host_step.h"
#include "reprise/core/recorder.h"

namespace reprise {

/// A node whose work is a function of the caller's, run on the host between the steps of the
/// device. It cuts a session into segments: the one before is submitted and waited for, the
/// function runs on the thread that launches (in a direct session: that records), and the next
/// segment follows. Up to 7 contiguous inputs and 4 outputs of any dtype cross over in staging
/// memory; `in_place` is one tensor more, persistent for instance, that the function reads and
/// writes. `name` is the node's label in messages and the database.
///
/// The graph keeps the function with what it captured; a GraphCache does not see that another one
/// was meant. It runs in every launch, also in the run inside finish(). It may use anything, other
/// sessions of the executor too, but the session or graph it is part of; with joined host steps
/// (FinishOptions) it must not wait for the device. Submissions of other sessions may run between
/// the segments. Where it throws, the launch throws: an Error keeps its code, anything else becomes
/// invalid_argument, both with the node's place. Nothing further runs, persistent tensors and state
/// stay as the segments before left them, and the graph can be launched again. launch_async()
/// returns when the last segment is submitted, so after the functions.
///
/// Errors: invalid_argument for more tensors, for outputs without elements, for no function, and in
/// sessions of several iterations: whether one of them runs is known on the device alone.
std::vector<Tensor> host_step(Site site, std::string_view name,
                              const std::vector<TensorRef>& inputs,
                              const std::vector<TensorSpec>& outputs, HostFunction function,
                              TensorRef in_place = {});

}  // namespace reprise

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
