// Verification: the runs of one call of verify(), and what each of them left.
#pragma once
#include <functional>

#include "framework/session/checks/memory_snapshot.h"
#include "framework/session/state/state_snapshot.h"
#include "reprise/session/verify.h"

namespace reprise {

/// Memory and state are restored when it dies.
class Verification {
 public:
  Verification(GraphExecutor& executor, const RecordFunction& pass, VerifyOptions options);
  VerifyReport run();

 private:
  using Bytes = std::vector<std::byte>;
  using BufferOf = std::function<const std::shared_ptr<Buffer>&(std::uint32_t storage)>;
  /// Persistent memory that the pass writes, and what it holds after each run.
  struct Written {
    StatePart part;
    Bytes direct{}, first_run{}, replay{};
  };
  OutputSet run_directly();
  static OutputSet launch(CapturedGraph& graph);
  /// What the nodes from `first` on write is kept as it is and compared from now on.
  void watch(const ComputeGraph& graph, const BufferOf& buffer_of, std::size_t first);
  Bytes read(const StatePart& part) const;
  void keep(Bytes Written::*after);
  /// Rows of the table comparisons, where there is a profiling database.
  void profile(CapturedGraph& graph, const OutputSet& direct, const OutputSet& replay,
               const VerifyReport& report) const;
  static void compare_outputs(const OutputSet& direct, const OutputSet& first,
                              const OutputSet& replay, VerifyReport& report);

  GraphExecutor& executor_;
  const RecordFunction& pass_;
  VerifyOptions options_;
  StateSnapshot state_;
  MemorySnapshot memory_;
  std::vector<Written> written_;
};

}  // namespace reprise
