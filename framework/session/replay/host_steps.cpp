#include "framework/session/replay/host_steps.h"

#include <algorithm>

#include "framework/session/executor/host_clock.h"

namespace reprise {

HostSteps::HostSteps(ExecutorCore& core, const PassPlan& plan, HostContext* context, bool joined)
    : core_(core), plan_(plan.execution), context_(context) {
  const StepList& steps = plan_->steps;
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
      steps_.emplace_back(core.device(), plan.graph(), plan.functions.at(steps[s].node), steps, s,
                          staging);
      expert_call_.push_back(expert_call(steps[s].node));
    }
  }
  if (joined && !steps_.empty()) {
    signal_ = core.device().backend().host_signal();
    submissions_.resize(steps_.size());
  }
}

std::span<const StagedHostStep> HostSteps::in(StepRange range) const {
  const auto begin = std::ranges::lower_bound(steps_, range.begin, {}, &StagedHostStep::step);
  const auto end = std::ranges::lower_bound(steps_, range.end, {}, &StagedHostStep::step);
  return {begin, end};
}

std::uint32_t HostSteps::node_of(std::uint32_t step) const {
  const StepList& steps = plan_->steps;
  return step < steps.size() ? steps[step].node
                             : static_cast<std::uint32_t>(plan_->graph->nodes.size());
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

/// The executor may shut down while the functions of host steps run, and they may use it.
void HostSteps::submit_part(Slot& slot, const SlotLaunch& part, std::uint64_t recording) const {
  const auto running = core_.hold_running();
  const DriverWork work(core_.driver_events(), *plan_->graph, {.recording = recording});
  slot.submit(part);
}

void HostSteps::submit(Slot& slot, const SlotLaunch& launch, StepRange range,
                       std::uint64_t recording) {
  const std::span<const StagedHostStep> steps = in(range);
  forget_idle();
  if (steps.empty()) {
    submit_part(slot, launch, recording);
    return;
  }
  Backend& backend = core_.device().backend();
  SubmissionTimes before{.submits = 0};
  std::uint32_t next_node = node_of(range.begin);
  // Segment s is what lies between the host steps s - 1 and s.
  const auto submit_segment = [&](std::size_t s) {
    const bool last = s == steps.size();
    const std::uint32_t end = node_of(last ? range.end : steps[s].step());
    const std::vector<StateGrowth> growths =
        growths_of(*plan_->graph, std::exchange(next_node, end), end);
    const Body body{s == 0 ? launch.body.encoding : launch.body.segments[s - 1],
                    launch.body.stamps};
    submit_part(slot,
                {.body = body,
                 .growths = growths,
                 .mode = launch.mode,
                 .iterations = launch.iterations,
                 .sequence = launch.sequence,
                 .begin_ns = s == 0 ? launch.begin_ns : now_ns(),
                 .then = last ? launch.then : AfterSubmit::will_wait,
                 .sends = s == 0,
                 .brings_back = last,
                 .limits = launch.limits,
                 .keeps_patches = launch.keeps_patches && s == 0},
                recording);
    if (s == 0) {
      before = slot.times();
    } else if (!last) {
      before.submit_ns += slot.times().submit_ns;
      ++before.submits;
    }
  };
  std::int64_t idle_since = 0;
  const auto busy_again = [&](std::size_t h) {
    const auto which = static_cast<std::size_t>(&steps[h] - steps_.data());
    if (expert_call_[which] != kNoIndex) {
      add_idle(expert_call_[which], now_ns() - idle_since);
    }
  };
  const auto run_after = [&](std::size_t h, std::uint64_t submission) {
    const std::int64_t waiting = now_ns();
    backend.wait(submission);
    const std::int64_t called = now_ns();
    idle_since = called;
    run(steps[h]);
    before.wait_ns += static_cast<std::uint64_t>(called - waiting);
    before.host_step_ns += static_cast<std::uint64_t>(now_ns() - called);
  };
  submit_segment(0);
  std::size_t raised = 0, submitted = 0;
  try {
    if (signal_ != nullptr) {
      for (; submitted < steps.size(); ++submitted) {
        submissions_[submitted] = slot.times().submission;
        submit_segment(submitted + 1);
      }
      for (; raised < steps.size(); ++raised) {
        run_after(raised, submissions_[raised]);
        backend.raise(signal_);
        busy_again(raised);
      }
    } else {
      for (std::size_t h = 0; h < steps.size(); ++h) {
        run_after(h, slot.times().submission);
        submit_segment(h + 1);
        busy_again(h);
      }
    }
  } catch (...) {
    if (signal_ != nullptr) {
      drain(steps.subspan(raised, submitted - raised), raised);
      slot.abandon();
    }
    throw;
  }
  slot.add_parts(before);
}

void HostSteps::drain(std::span<const StagedHostStep> steps, std::size_t first) noexcept {
  Backend& backend = core_.device().backend();
  for (std::size_t h = 0; h < steps.size(); ++h) {
    try {
      backend.wait(submissions_[first + h]);
      steps[h].skip();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the launch throws why
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        backend.raise(signal_);
        break;
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the device is lost, or it is not
      }
    }
  }
}

}  // namespace reprise
