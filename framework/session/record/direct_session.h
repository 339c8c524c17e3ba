// DirectSession: its ops are encoded as they are recorded, and run once.
#pragma once
#include <functional>

#include "framework/session/record/direct_run.h"
#include "framework/session/record/direct_submission.h"
#include "framework/session/record/session.h"

namespace reprise {

class DirectSession final : public Session {
 public:
  DirectSession(std::shared_ptr<ExecutorCore> core, SessionOptions options, Purpose purpose = {});

  FinishResult finish(Recorder& recorder, const FinishOptions& options) override;
  Ticket submit(Recorder& recorder) override;
  /// Called before a part is handed over.
  void before_submit(std::function<void(const GraphCapture&)> hook) { hook_ = std::move(hook); }

 private:
  void require_options() const override;
  void begin_extents() override;
  void added_input(std::uint32_t tensor, std::span<const std::byte> values) override;
  void recorded(bool host_step) override;

  void require_default(const FinishOptions& options) const;
  /// What has to hold when the state is sent.
  std::vector<ExtentLimit> limits() const;
  void open_submission();
  void submit_part(AfterSubmit then);
  void run_host_step();
  /// What the nodes since the last part add to state fields.
  std::vector<StateGrowth> new_growths();
  std::shared_ptr<DirectSubmission> submit_all(AfterSubmit then);
  void submit_last(AfterSubmit then);

  DirectRun run_;
  std::shared_ptr<DirectSubmission> submission_;  // from its first part on
  std::function<void(const GraphCapture&)> hook_;
  FinishReport report_;  // of the parts so far
  std::uint32_t submitted_nodes_ = 0;
};

}  // namespace reprise
