#include "framework/session/direct_submission.h"

namespace reprise {

DirectSubmission::DirectSubmission(std::shared_ptr<ExecutorCore> core,
                                   ExecutorCore::ArenaLoan arena, const FinishReport& report)
    : core_(std::move(core)), arena_(std::move(arena)), report_(report) {}

DirectSubmission::~DirectSubmission() {
  if (record_) {
    try {
      slot_->done();          // it may be complete though nobody asked
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): failed() noted it
    }
  }
  send_record();
}

Slot& DirectSubmission::open_slot(StateBlock state, std::vector<Exchange> inputs,
                                  std::vector<Exchange> outputs) {
  return slot_.emplace(core_->device(), std::move(state), std::move(inputs), std::move(outputs),
                       arena_->staging(), *this);
}

void DirectSubmission::submit(EncodingRef body, SessionRecord record, std::int64_t begin_ns,
                              Follow follow) {
  const TimingMode wanted = core_->timing_mode(std::nullopt);
  const TimingMode mode = wanted == TimingMode::off ? TimingMode::off : TimingMode::replay;
  slot_->submit({std::move(body), nullptr}, mode, 0, begin_ns, follow);
  arena_->in_use_until = slot_->times().submission;
  report_.encode_ns = slot_->times().prepare_ns;
  report_.submit_ns = slot_->times().submit_ns;
  if (core_->profile() != nullptr) {
    record_ = std::move(record);
    record_->submits = 1;
  }
}

void DirectSubmission::completed(const Slot& slot) {
  report_.wait_ns = slot.times().wait_ns;
  report_.device_ns = slot.times().device_ns;
  outcome_ = "finished";
  send_record();
}

void DirectSubmission::failed(const Slot& /*slot*/, const Error& error) noexcept {
  if (record_) {
    core_->profile()->error(error, record_->id, 0);
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
