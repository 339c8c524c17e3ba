#include "framework/session/replay/host_steps.h"

#include <algorithm>

namespace reprise {

HostSteps::HostSteps(const Device& device, const PassPlan& plan, HostContext* context, bool joined)
    : context_(context) {
  const StepList& steps = plan.execution->steps;
  HostStaging staging;
  expert_idle_ns_.resize(plan.expert_calls.size());
  const auto expert_call = [&](std::uint32_t node) {
    const auto call = std::ranges::find_if(plan.expert_calls, [&](const ExpertCall& c) {
      return std::ranges::find(c.host_steps, node) != c.host_steps.end();
    });
    return call == plan.expert_calls.end()
               ? kNoIndex
               : static_cast<std::uint32_t>(call - plan.expert_calls.begin());
  };
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    if (is_host_step(steps[s])) {
      steps_.emplace_back(device, plan.graph(), plan.functions.at(steps[s].node), steps, s,
                          staging);
      expert_call_.push_back(expert_call(steps[s].node));
    }
  }
  // Who moves an expert waits for the segments that use its cell.
  const bool moves = std::ranges::any_of(plan.expert_calls, &ExpertCall::moves);
  if (joined && !moves && !steps_.empty()) {
    signal_ = device.backend().host_signal();
  }
}

std::span<const StagedHostStep> HostSteps::in(StepRange range) const {
  const auto begin = std::ranges::lower_bound(steps_, range.begin, {}, &StagedHostStep::step);
  const auto end = std::ranges::lower_bound(steps_, range.end, {}, &StagedHostStep::step);
  return {begin, end};
}

void HostSteps::run(const StagedHostStep& step) {
  struct Mark {
    explicit Mark(bool& of) : flag(of) { flag = true; }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    ~Mark() { flag = false; }
    bool& flag;
  };
  const Mark mark(running_);
  step.call(context_);
}

void HostSteps::add_idle(std::uint32_t expert_call, std::int64_t ns) {
  if (expert_call != kNoIndex) {
    expert_idle_ns_[expert_call] += static_cast<std::uint64_t>(ns);
  }
}

}  // namespace reprise
