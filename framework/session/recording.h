// CapturedGraph::Recording: a planned graph encoded once, with its arena and its slot.
#pragma once
#include "framework/session/executor_core.h"
#include "framework/session/slot.h"
#include "reprise/session/captured_graph.h"
#include "reprise/session/results.h"

namespace reprise {

class CapturedGraph::Recording {
 public:
  struct Port {
    std::string name;
    std::uint32_t tensor;
  };
  /// Allocates and encodes; fills the plan's share of the report. Nothing runs yet.
  Recording(std::shared_ptr<ExecutorCore> core, std::shared_ptr<const RecordedGraph> recorded,
            StateBlock state, const std::vector<Port>& inputs, const std::vector<Port>& outputs,
            FinishReport& report);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  void set_input(std::string_view name, DType dtype, std::span<const std::byte> bytes);
  SubmissionTimes launch();
  std::pair<TensorSpec, std::span<const std::byte>> output(std::string_view name) const;
  const StateBlock& state() const { return state_; }
  std::uint64_t num_replays() const { return replays_; }
  const RecordedGraph& recorded() const { return *recorded_; }
  const SubmissionTimes& last_times() const { return times_; }

  /// Enters this recording and its first replay into the profiling database.
  void profile(std::uint64_t session, const FinishReport& report);

 private:
  void encode_body(FinishReport& report);
  void profile_replay();
  Exchange exchange(const Port& port) const;

  std::shared_ptr<ExecutorCore> core_;
  std::shared_ptr<const RecordedGraph> recorded_;
  StateBlock state_;
  std::vector<std::shared_ptr<Buffer>> pools_;
  Staging staging_;
  std::unique_ptr<Encoding> body_;
  std::unique_ptr<Slot> slot_;
  SubmissionTimes times_;
  std::uint64_t replays_ = 0;
  std::uint64_t profile_id_ = 0;
};

}  // namespace reprise
