// HostSteps: those of a recording, and launches that they cut.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "framework/session/executor/executor_core.h"
#include "framework/session/replay/pass_plan.h"
#include "framework/session/replay/slot.h"
#include "framework/session/replay/staged_host_step.h"

namespace reprise {

/// Of a plan: from `begin` to before `end`.
struct StepRange {
  std::uint32_t begin, end;
};

/// Threads: the recording's.
class HostSteps {
 public:
  /// `context`: for the functions. `joined`: see FinishOptions.
  HostSteps(ExecutorCore& core, const PassPlan& plan, HostContext* context, bool joined);

  std::span<const StagedHostStep> in(StepRange range) const;
  /// What segments behind the first one wait for; null: nothing.
  const std::shared_ptr<HostSignal>& signal() const { return signal_; }
  /// A function runs.
  bool running() const { return running_; }
  /// By layer of experts (PassPlan::expert_calls), of the last launch: how long the device had
  /// nothing to do because of its host steps. From when the host saw the segment before complete
  /// until it had handed over the one behind, so without the device's own way from the one to the
  /// other.
  std::span<const std::uint64_t> expert_idle_ns() const { return expert_idle_ns_; }
  /// Submits the steps: all segments but the last wait, and functions run in here.
  /// `recording`: in the profiling database.
  void submit(Slot& slot, const SlotLaunch& launch, StepRange range, std::uint64_t recording);

  // For launches that stop.
  void submit_part(Slot& slot, const SlotLaunch& part, std::uint64_t recording) const;
  void run(const StagedHostStep& step);
  void forget_idle() { std::ranges::fill(expert_idle_ns_, 0); }
  void add_idle(std::size_t expert_call, std::int64_t ns) {
    expert_idle_ns_[expert_call] += static_cast<std::uint64_t>(ns);
  }

 private:
  std::uint32_t node_of(std::uint32_t step) const;
  /// After a failure: lets the segments behind these host steps, the first of which is number
  /// `first`, run without them.
  void drain(std::span<const StagedHostStep> steps, std::size_t first) noexcept;

  ExecutorCore& core_;
  std::shared_ptr<const ExecutionPlan> plan_;
  std::vector<StagedHostStep> steps_;
  std::vector<std::uint32_t> expert_call_;  // by host step; kNoIndex: none of experts
  std::vector<std::uint64_t> expert_idle_ns_;
  std::shared_ptr<HostSignal> signal_;      // joined ones raise it
  std::vector<std::uint64_t> submissions_;  // joined: before each host step
  HostContext* context_;
  bool running_ = false;
};

}  // namespace reprise
