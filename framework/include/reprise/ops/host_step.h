#pragma once
#include "reprise/core/host_step.h"
#include "reprise/core/recorder.h"

namespace reprise {

/// Records a function of the caller's, run on the host between the steps of the device. `name` is
/// the node's label in messages and the database. It cuts a session into segments. The segment
/// before is submitted and waited for, the function runs, and the next segment follows. Inputs and
/// outputs cross over in staging memory. The function also reads and writes `in_place`, one more
/// tensor, persistent for instance.
///
/// The function runs in every launch, also in the run inside finish(). It may use anything, other
/// sessions of the executor too, but not the session or graph it is part of. With joined host steps
/// (FinishOptions) it must not wait for the device. Submissions of other sessions may run between
/// the segments. launch_async() returns when the last segment is submitted, so after the functions.
///
/// If the function fails, nothing further runs. Persistent tensors and state stay as the segments
/// before left them, and the graph can be launched again.
/// Shapes: up to 7 inputs, contiguous, and 4 outputs, of any dtype.
/// Errors: invalid_argument for more tensors, for outputs without elements, for no function, and in
/// sessions of several iterations, because only the device knows whether one of them runs. From
/// launches: an Error of the function with its code, any other exception as invalid_argument, both
/// with the node's place.
/// Lifetime: the graph keeps the function with its captures. A GraphCache does not notice a
/// different function under the same key.
/// Threads: the function runs on the thread that launches; in a direct session, that records.
std::vector<Tensor> host_step(Site site, std::string_view name,
                              const std::vector<TensorRef>& inputs,
                              const std::vector<TensorSpec>& outputs, HostFunction function,
                              TensorRef in_place = {});

}  // namespace reprise
