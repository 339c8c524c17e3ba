// Launcher: submits launches of a recording, and what the host does in between: its host steps cut
// them, and the device may stop them.
#pragma once
#include <functional>

#include "framework/session/replay/host_steps.h"
#include "framework/session/replay/stops.h"

namespace reprise {

/// Threads: the recording's.
class Launcher {
 public:
  /// `memory` and `host_steps` outlive it. `context`: for the functions.
  Launcher(ExecutorCore& core, const PassPlan& plan, const Memory& memory, HostSteps& host_steps,
           HostContext* context);

  /// The device may stop a launch.
  bool may_stop() const { return stops_.any(); }
  /// Encodes a range of steps as those of this launch are.
  using Encode = std::function<Body(StepRange)>;
  /// Submits the steps, and holds the slot. All parts but the last one are waited for, and
  /// functions run in here. Waits for the last one too where it may stop. `recording`: in the
  /// profiling database.
  void submit(Slot& slot, const SlotLaunch& launch, StepRange range, const Encode& encode,
              std::uint64_t recording);

 private:
  struct Parts;
  std::uint32_t node_of(std::uint32_t step) const;
  void submit_part(Slot& slot, const SlotLaunch& part, std::uint64_t recording) const;
  /// After a failure: lets the segments behind these host steps, the first of which is number
  /// `first`, run without them.
  void drain(std::span<const StagedHostStep> steps, std::size_t first) noexcept;

  ExecutorCore& core_;
  std::shared_ptr<const ExecutionPlan> plan_;
  HostSteps& host_steps_;
  Stops stops_;
  std::vector<std::uint64_t> submissions_;  // joined: before each host step
};

}  // namespace reprise
