// ExpertRuns: the experts of an executable graph: where they are, and what became of its runs.
#pragma once
#include "framework/session/executor/executor_core.h"
#include "framework/session/experts/expert_residency.h"
#include "framework/session/replay/pass_plan.h"
#include "reprise/session/state_block.h"

namespace reprise {

/// Threads: one.
class ExpertRuns {
 public:
  /// `calls`: of the graph's pass.
  ExpertRuns(std::shared_ptr<ExecutorCore> core, const ExpertSetup& setup,
             std::span<const ExpertCall> calls);

  ExpertResidency& residency() { return residency_; }
  /// Whether runs are complete once they are submitted, as the device may stop in the middle.
  bool stops() const;
  struct Run {
    std::uint64_t recording;                 // in the profiling database
    std::span<const std::uint64_t> idle_ns;  // of the device, by call
    std::int64_t rows;                       // of the extent, if there is one
    std::uint32_t iterations;                // that ran; where none may stop, that were asked for
  };
  void end_run(const Run& run);

  /// Since the graph was made, or since the last call that took them.
  std::vector<ExpertStats> stats(bool take);

 private:
  std::shared_ptr<ExecutorCore> core_;
  ExpertResidency residency_;
  std::vector<ExpertResidency::LayerRun> layers_;  // by call
  std::vector<ExpertStats> taken_;                 // by layer
};

}  // namespace reprise
