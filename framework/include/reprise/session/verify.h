// verify: compares a pass that is recorded and replayed with a direct run, bit for bit.
#pragma once
#include <optional>
#include <vector>

#include "reprise/session/graph_executor.h"

namespace reprise {

struct VerifyOptions {
  SessionOptions session{};  // for both sessions; max_iterations counts as 1
  FinishOptions finish{};    // for the recorded one; `run` is ignored
};

/// Differences between the elements of two tensors.
struct VerifyDifference {
  std::uint64_t element = 0;         // the first one, in order of memory
  std::string expected{}, actual{};  // its value in the direct run, and here
  std::uint64_t count = 0;           // elements that differ
  double max_abs = 0;                // the largest difference; infinity where one is not a number
};

/// An output of the pass, or a persistent tensor, state field or state array that it writes.
struct VerifiedTensor {
  std::string name{};  // "output 'y'", "tensor 'k_cache'", "state field 'pos'", "state array 'ids'"
  TensorSpec spec{};   // of outputs; of written memory, its elements as one row
  std::optional<VerifyDifference> first_run{}, replay{};  // empty: equal to the direct run
  std::string mismatch{};  // of outputs that cannot be compared: one has another spec, or there is
                           // only one
  bool equal() const { return !first_run && !replay && mismatch.empty(); }
};

struct VerifyReport {
  std::string name{};  // of the session
  std::vector<VerifiedTensor> tensors{};
  bool equal() const;
  /// Returns a summary line, and one line per tensor that is not equal.
  std::string text() const;
};

/// Runs a pass directly, records it, runs the graph and replays it, each time from the same memory.
/// Compares all outputs and all persistent memory that its ops declare to write: state, arrays and
/// caches. Waits for what is in flight first. The pass is called twice; variables of the host stay
/// as it left them.
///
/// Memory and state are bit for bit as before afterwards, also after an error, except on a lost
/// device. Memory that an op writes without declaring it is neither compared nor restored. Examples
/// are a shader that leaves its bindings, and a host step that writes through a pointer of its own.
/// Units: takes host memory for four times what the pass writes.
/// Errors: those of the pass, finish() and launch().
/// Threads: nothing else may use the state block or the written tensors meanwhile.
VerifyReport verify(GraphExecutor& executor, const RecordFunction& pass,
                    const VerifyOptions& options = {});

}  // namespace reprise
