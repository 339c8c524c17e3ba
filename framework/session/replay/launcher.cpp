#include "framework/session/replay/launcher.h"

#include <utility>

#include "framework/session/executor/host_clock.h"

namespace reprise {

Launcher::Launcher(ExecutorCore& core, const PassPlan& plan, const Memory& memory,
                   HostSteps& host_steps, HostContext* context)
    : core_(core),
      plan_(plan.execution),
      host_steps_(host_steps),
      stops_(core, plan, memory, context),
      submissions_(host_steps.in({0, kNoIndex}).size()) {}

std::uint32_t Launcher::node_of(std::uint32_t step) const {
  const StepList& steps = plan_->steps;
  return step < steps.size() ? steps[step].node
                             : static_cast<std::uint32_t>(plan_->graph->nodes.size());
}

/// The executor may shut down while the functions of host steps run, and they may use it.
void Launcher::submit_part(Slot& slot, const SlotLaunch& part, std::uint64_t recording) const {
  const auto running = core_.hold_running();
  const DriverWork work(core_.driver_events(), *plan_->graph, {.recording = recording});
  slot.submit(part);
}

/// One launch, cut by host steps or stopped by the device.
struct Launcher::Parts {
  Launcher& of;
  Slot& slot;
  const SlotLaunch& launch;
  StepRange range;
  const Encode& encode;
  std::uint64_t recording;
  std::span<const StagedHostStep> steps;

  SubmissionTimes all{.submits = 0};
  Body rest{};  // behind a stop
  const Body* body = &launch.body;
  std::uint32_t next_node = of.node_of(range.begin), done = 0;
  std::size_t segment = 0;  // of the body
  TimingMode mode = launch.mode;

  void submit_before(std::size_t host_step);
  void serve(const Stops::Stop& stop);
  void run();
};

void Launcher::Parts::submit_before(std::size_t host_step) {
  const bool first = all.submits == 0, last = host_step == steps.size();
  const std::uint32_t end = of.node_of(last ? range.end : steps[host_step].step());
  std::vector<StateGrowth> growths;
  if (!steps.empty()) {
    growths = growths_of(*of.plan_->graph, std::exchange(next_node, end), end);
  }
  const Body part{segment == 0 ? body->encoding : body->segments[segment - 1], body->stamps,
                  body->next};
  of.submit_part(slot,
                 {.body = part,
                  .growths = first && steps.empty() ? launch.growths : growths,
                  .mode = mode,
                  .iterations = launch.iterations - done,
                  .sequence = launch.sequence,
                  .begin_ns = first ? launch.begin_ns : now_ns(),
                  .then = last && !of.may_stop() ? launch.then : AfterSubmit::will_wait,
                  .sends = first,
                  .brings_back = last,
                  .limits = launch.limits,
                  .keeps_patches = launch.keeps_patches && first,
                  .done = done},
                 recording);
  if (first) {
    all.submit_time_ns = slot.times().submit_time_ns;
    all.prepare_ns = slot.times().prepare_ns;
  }
  all.submit_ns += slot.times().submit_ns;
  ++all.submits;
  ++segment;
}

/// What is behind the place becomes the body.
void Launcher::Parts::serve(const Stops::Stop& stop) {
  try {
    of.stops_.serve(stop);
    Body behind = encode({stop.place.step + 1, range.end});
    while (behind.next.size() + 1 < launch.iterations - stop.done) {
      behind.next.push_back(of.core_.traits().replays ? launch.body.encoding
                                                      : encode(range).encoding);
    }
    of.stops_.go_on(stop);
    rest = std::move(behind);
  } catch (...) {
    of.stops_.give_up();
    throw;
  }
  body = &rest;
  segment = 0;
  done = stop.done;
  mode = TimingMode::off;
}

void Launcher::Parts::run() {
  HostSteps& host_steps = of.host_steps_;
  Backend& backend = of.core_.device().backend();
  const bool joined = host_steps.signal() != nullptr && !steps.empty();
  submit_before(0);
  std::size_t next = 0, submitted = 0;  // host steps
  try {
    for (; joined && submitted < steps.size(); ++submitted) {
      of.submissions_[submitted] = slot.times().submission;
      submit_before(submitted + 1);
    }
    while (next < steps.size() || of.may_stop()) {
      const bool last = next == steps.size();
      const std::int64_t waiting = now_ns();
      backend.wait(joined ? of.submissions_[next] : slot.times().submission);
      const std::int64_t called = now_ns();
      all.wait_ns += static_cast<std::uint64_t>(called - waiting);
      const auto stop = of.may_stop() ? of.stops_.find(slot, last) : std::nullopt;
      if (stop) {
        serve(*stop);
      } else if (last) {
        break;
      } else {
        host_steps.run(steps[next]);
      }
      all.host_step_ns += static_cast<std::uint64_t>(now_ns() - called);
      const std::uint32_t expert_call =
          stop ? stop->place.expert_call : host_steps.expert_call_of(steps[next]);
      const std::size_t served = stop ? next : next + 1;
      if (joined) {
        backend.raise(host_steps.signal());
      } else {
        submit_before(served);
      }
      next = served;
      host_steps.add_idle(expert_call, now_ns() - called);
    }
  } catch (...) {
    if (joined) {
      of.drain(steps.subspan(next, submitted - next), next);
    }
    throw;
  }
  slot.add_parts(all);
  slot.hold(launch, mode);
}

void Launcher::submit(Slot& slot, const SlotLaunch& launch, StepRange range, const Encode& encode,
                      std::uint64_t recording) {
  host_steps_.forget_idle();
  const auto steps = host_steps_.in(range);
  if (steps.empty() && !may_stop()) {
    submit_part(slot, launch, recording);
    slot.hold(launch, launch.mode);
    return;
  }
  Parts{*this, slot, launch, range, encode, recording, steps}.run();
}

void Launcher::drain(std::span<const StagedHostStep> steps, std::size_t first) noexcept {
  Backend& backend = core_.device().backend();
  for (std::size_t h = 0; h < steps.size(); ++h) {
    try {
      backend.wait(submissions_[first + h]);
      steps[h].skip();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the launch throws why
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        backend.raise(host_steps_.signal());
        break;
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the device is lost, or it is not
      }
    }
  }
}

}  // namespace reprise
