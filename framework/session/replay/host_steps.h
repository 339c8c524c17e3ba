// HostSteps: those of a recording.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "framework/session/executor/executor_core.h"
#include "framework/session/replay/pass_plan.h"
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
  HostSteps(const Device& device, const PassPlan& plan, HostContext* context, bool joined);

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
  void run(const StagedHostStep& step);
  void forget_idle() { std::ranges::fill(expert_idle_ns_, 0); }
  /// `expert_call`: kNoIndex: none of experts.
  void add_idle(std::uint32_t expert_call, std::int64_t ns);
  /// Which one a step of `in()` belongs to, likewise.
  std::uint32_t expert_call_of(const StagedHostStep& step) const {
    return expert_call_[static_cast<std::size_t>(&step - steps_.data())];
  }

 private:
  std::vector<StagedHostStep> steps_;
  std::vector<std::uint32_t> expert_call_;  // by host step; kNoIndex: none of experts
  std::vector<std::uint64_t> expert_idle_ns_;
  std::shared_ptr<HostSignal> signal_;  // joined ones raise it
  HostContext* context_;
  bool running_ = false;
};

}  // namespace reprise
