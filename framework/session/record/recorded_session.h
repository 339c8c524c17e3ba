// RecordedSession: its ops become a graph and a plan, of which a recording is made.
#pragma once
#include "framework/graph/make_plan.h"
#include "framework/session/record/session.h"
#include "framework/session/replay/pass_plan.h"

namespace reprise {

class RecordedSession final : public Session {
 public:
  RecordedSession(std::shared_ptr<ExecutorCore> core, SessionOptions options, Purpose purpose = {});

  FinishResult finish(Recorder& recorder, const FinishOptions& options) override;
  /// Throws invalid_argument.
  Ticket submit(Recorder& recorder) override;
  /// Ends it with a plan: nothing runs or is allocated. `outcome`: what the database calls that.
  PassPlan plan(Recorder& recorder, const PlanOptions& options, const std::string& outcome);

  /// Errors: unknown_name.
  const Tensor& output_tensor(std::string_view name) const { return outputs_[output_index(name)]; }
  /// Outputs in the memory of this persistent tensor become copies of what the pass leaves there,
  /// so that later writes to it do not reach them.
  void copy_outputs_of(Recorder& recorder, const Tensor& memory);
  /// Before it is ended: the output gets its values in this persistent tensor, by a copy at this
  /// point or by having its memory from the beginning.
  void place_output(Recorder& recorder, std::string_view name, const Tensor& target, bool by_copy);

 private:
  void require_options() const override;
  bool has_iteration() const override;
  void recorded(bool host_step) override;
  PassPlan make_plan(const PlanOptions& options);
  std::uint32_t output_index(std::string_view name) const;
  Tensor copy_of_output(Recorder& recorder, std::size_t output);
};

}  // namespace reprise
