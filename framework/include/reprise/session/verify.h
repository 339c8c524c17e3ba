// verify: whether a pass that is recorded and replayed does the same, bit for bit, as a direct run.
#pragma once
#include <optional>
#include <vector>

#include "reprise/session/graph_executor.h"

namespace reprise {

struct VerifyOptions {
  SessionOptions session{};  // of both sessions; max_iterations counts as 1
  FinishOptions finish{};    // of the recorded one; `run` has no use here
};

/// Where the elements of a tensor differ.
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
  /// A line that sums up, and one per tensor that is not equal.
  std::string text() const;
};

/// Runs a pass directly, records it, runs the graph and replays it, each time from the same memory,
/// and compares all outputs and all persistent memory that its ops declare to write: state, arrays
/// and caches. Memory and state are bit for bit as before afterwards, also if this throws, but for
/// a lost device. Memory that an op writes without declaring it (a shader that leaves its bindings,
/// a host step that writes through a pointer of its own) is neither compared nor restored, and
/// variables of the host stay as the pass left them: it is called twice.
///
/// Waits for what is in flight first. Nobody else may use the state block or the written tensors
/// meanwhile. Takes memory of the host for four times what the pass writes. Throws what the pass,
/// finish() and launch() throw.
VerifyReport verify(GraphExecutor& executor, const RecordFunction& pass,
                    const VerifyOptions& options = {});

}  // namespace reprise
