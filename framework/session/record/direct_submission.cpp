#include "framework/session/record/direct_submission.h"

namespace reprise {

DirectSubmission::DirectSubmission(std::shared_ptr<ExecutorCore> core, std::string name,
                                   StateBlock state, std::vector<Exchange> inputs, Staging& staging,
                                   TimingMode step_times)
    : core_(std::move(core)),
      name_(std::move(name)),
      step_times_(step_times),
      slot_(core_->device(), std::move(state), std::move(inputs), {}, IterationRows(), staging,
            *this) {}

DirectSubmission::~DirectSubmission() {
  if (record_) {
    try {
      slot_.done();           // it may be complete though nobody asked
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): failed() noted it
    }
  }
  send_record();
}

std::uint64_t DirectSubmission::submit_part(const Part& part) {
  if (!began_) {
    const TimingMode wanted = core_->timing_mode(std::nullopt);
    mode_ = wanted == TimingMode::off && step_times_ == TimingMode::off ? TimingMode::off
                                                                        : TimingMode::replay;
  }
  const Body body{part.body, nullptr};
  const SlotLaunch launch{.body = body,
                          .growths = part.growths,
                          .mode = mode_,
                          .begin_ns = part.begin_ns,
                          .then = part.then,
                          .sends = !began_,
                          .brings_back = part.last,
                          .limits = limits_,
                          .nothing_runs = nothing_runs_};
  slot_.submit(launch);
  if (part.last) {
    slot_.hold(launch, mode_);
  }
  began_ = true;
  return slot_.times().submission;
}

void DirectSubmission::set_extents(std::vector<ExtentLimit> limits, bool nothing_runs) {
  limits_ = std::move(limits);
  nothing_runs_ = nothing_runs;
}

void DirectSubmission::submit_last(const Part& part, std::vector<Exchange> outputs,
                                   ExecutorCore::ArenaLoan arena, const FinishReport& report,
                                   SessionRecord record) {
  report_ = report;
  arena_ = std::move(arena);
  slot_.exchange().set_outputs(std::move(outputs), arena_->staging);
  arena_->in_use_until = submit_part(part);
  report_.encode_ns = slot_.times().prepare_ns;
  report_.submit_ns += slot_.times().submit_ns;
  if (core_->profile() != nullptr) {
    record_ = std::move(record);
    record_->submits = report_.submits;
  }
}

void DirectSubmission::enter(std::shared_ptr<const ExecutionPlan> plan,
                             std::span<const std::shared_ptr<Buffer>> pools) {
  reporter_.emplace(*core_, std::move(plan), 1);
  reporter_->enter_direct(record_->id, report_, pools);
}

void DirectSubmission::completed(const Slot& slot) {
  report_.wait_ns += slot.times().wait_ns;
  report_.device_ns = slot.times().device_ns;
  outcome_ = "finished";
  if (reporter_) {
    std::vector<std::uint64_t> ticks;
    if (step_times_ != TimingMode::off) {
      ticks = arena_->step_stamps.ticks();
    }
    reporter_->completed_direct(slot, step_times_, ticks);
  }
  send_record();
}

void DirectSubmission::failed(const Slot& slot, const Error& error) noexcept {
  if (reporter_) {
    reporter_->failed(slot, error);
    try {
      outcome_ = error.what();
    } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for the text
    }
  }
}

void DirectSubmission::send_record() noexcept {
  try {
    if (record_) {
      core_->profile()->session(*std::exchange(record_, std::nullopt), report_, outcome_);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a record; the work is done
  }
}

}  // namespace reprise
