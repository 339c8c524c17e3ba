// DirectSubmission: a direct session that was submitted, until its ticket is released. Its arena
// goes back to the executor then.
#pragma once
#include "framework/session/executor/executor_core.h"
#include "framework/session/replay/replay_reporter.h"
#include "reprise/session/finish_report.h"

namespace reprise {

class DirectSubmission final : public SlotOwner {
 public:
  /// Makes the slot. Outputs follow with submit_last(). `step_times`: see DirectRun.
  DirectSubmission(std::shared_ptr<ExecutorCore> core, std::string name, StateBlock state,
                   std::vector<Exchange> inputs, Staging& staging, TimingMode step_times);
  DirectSubmission(const DirectSubmission&) = delete;
  DirectSubmission& operator=(const DirectSubmission&) = delete;
  /// Reports the session, with what is known then.
  ~DirectSubmission() override;

  Slot& slot() { return slot_; }
  /// Before the first part: what has to hold of the state, and whether an extent has no rows.
  void set_extents(std::vector<ExtentLimit> limits, bool nothing_runs);
  struct Part {
    EncodingRef body;
    std::vector<StateGrowth> growths;  // of that body
    std::int64_t begin_ns = 0;         // when preparing began
    AfterSubmit then = AfterSubmit::will_wait;
    bool last = false;
  };
  /// Submits a part that others follow, the first one with inputs and state; returns the
  /// submission.
  std::uint64_t submit_part(const Part& part);
  /// Once, and nothing but enter() afterwards. `report`: complete but for what only the device
  /// knows. `record`: sent once the submission is complete.
  void submit_last(const Part& part, std::vector<Exchange> outputs, ExecutorCore::ArenaLoan arena,
                   const FinishReport& report, SessionRecord record);
  /// With a profiling database: enters what was submitted as a recording. `pools`: see
  /// ReplayReporter.
  void enter(std::shared_ptr<const ExecutionPlan> plan,
             std::span<const std::shared_ptr<Buffer>> pools);
  const DirectArena& arena() const { return *arena_; }
  void completed(const Slot& slot) override;
  void failed(const Slot& slot, const Error& error) noexcept override;
  std::string_view graph_name() const override { return name_; }
  const FinishReport& report() const { return report_; }

 private:
  void send_record() noexcept;
  std::shared_ptr<ExecutorCore> core_;
  std::string name_;
  ExecutorCore::ArenaLoan arena_;
  std::optional<SessionRecord> record_;  // not sent yet
  std::optional<ReplayReporter> reporter_;
  TimingMode step_times_;
  FinishReport report_;
  std::string outcome_ = "released before it was complete";
  Slot slot_;
  std::vector<ExtentLimit> limits_;
  bool nothing_runs_ = false;
  TimingMode mode_ = TimingMode::off;
  bool began_ = false;  // the first part is submitted
};

}  // namespace reprise
