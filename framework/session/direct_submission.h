// DirectSubmission: a direct session that was submitted, until its ticket is released. Its arena
// goes back to the executor then.
#pragma once
#include "framework/session/executor_core.h"
#include "framework/session/slot.h"
#include "reprise/session/results.h"

namespace reprise {

class DirectSubmission final : public SlotOwner {
 public:
  /// `report` is complete but for what only the device knows.
  DirectSubmission(std::shared_ptr<ExecutorCore> core, ExecutorCore::ArenaLoan arena,
                   const FinishReport& report);
  DirectSubmission(const DirectSubmission&) = delete;
  DirectSubmission& operator=(const DirectSubmission&) = delete;
  /// Reports the session, with what is known then.
  ~DirectSubmission() override;

  /// Makes the slot; once.
  Slot& open_slot(StateBlock state, std::vector<Exchange> inputs, std::vector<Exchange> outputs);
  Slot& slot() { return *slot_; }
  /// `begin_ns`: when the session was closed. Sends `record` once the submission is complete.
  void submit(EncodingRef body, SessionRecord record, std::int64_t begin_ns, Follow follow);
  void completed(const Slot& slot) override;
  void failed(const Slot& slot, const Error& error) noexcept override;
  const FinishReport& report() const { return report_; }

 private:
  void send_record() noexcept;
  std::shared_ptr<ExecutorCore> core_;
  ExecutorCore::ArenaLoan arena_;
  std::optional<SessionRecord> record_;  // not sent yet
  FinishReport report_;
  std::string outcome_ = "released before it was complete";
  std::optional<Slot> slot_;
};

}  // namespace reprise
