// GraphSession: one forward pass. A Recorder whose ops run once (direct) or become a graph that can
// be replayed (recorded); both go through the same capture, lowering and hazard tracking.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>

#include "reprise/core/recorder.h"
#include "reprise/profile/profile_sink.h"
#include "reprise/session/device.h"
#include "reprise/session/results.h"
#include "reprise/session/state_block.h"

namespace reprise {

class ExecutorCore;
class GraphCapture;
class DirectRun;
class DirectSubmission;

struct SessionOptions {
  std::string name{};  // of the graph in messages and the database; "direct" or "recorded" if empty
  StateBlock state{};  // empty: the session has no state
};

/// Of recorded sessions; direct ones have no use for it.
struct FinishOptions {
  ReuseRule reuse = ReuseRule::epoch;  // of the arena
  std::size_t slots = 2;               // launches that may be in flight or unreleased; 1 to 64
  bool run = true;                     // false: the graph is made, but nothing runs
};

/// Destroyed unfinished, it is discarded: nothing runs and the executor stays usable. After a throw
/// it is invalidated and every later call says why. Not thread-safe.
class GraphSession final : public Recorder {
 public:
  enum class Mode : std::uint8_t { direct, recorded };
  GraphSession(std::shared_ptr<ExecutorCore> core, Mode mode, SessionOptions options);
  GraphSession(const GraphSession&) = delete;
  GraphSession& operator=(const GraphSession&) = delete;
  ~GraphSession() override;

  /// A tensor whose values the host gives: now, and before later launches with CapturedGraph::set.
  /// Names are unique among inputs.
  [[nodiscard]] Tensor input(std::string_view name, const Shape& shape,
                             std::span<const float> values);
  [[nodiscard]] Tensor input(std::string_view name, const Shape& shape,
                             std::span<const std::int32_t> values);
  [[nodiscard]] Tensor input(std::string_view name, const Shape& shape, DType dtype,
                             std::span<const std::byte> bytes);
  /// Makes a contiguous tensor readable after finish() and after every launch. Names are unique
  /// among outputs. Persistent tensors may be outputs.
  void output(std::string_view name, const Tensor& tensor);
  /// Runs what was recorded. Nothing can be recorded afterwards.
  FinishResult finish(const FinishOptions& options = {});
  /// Direct sessions: hands over what was encoded and returns at once. Recorded ones throw
  /// invalid_argument: finish them and use CapturedGraph::launch_async.
  Ticket submit();

  Tensor state_block() override;
  std::string tensor_name(const TensorRecord& tensor) const override;

 private:
  enum class Phase : std::uint8_t { recording, finished };
  struct NamedOutput {
    std::string name;
    std::uint32_t tensor;
    Tensor handle;  // keeps a direct session from reusing its memory
  };
  void append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) override;
  void require_open() const override;
  StateField find_state(std::string_view field) const override;
  std::uint32_t open_scope(std::uint32_t outer, std::string_view name, std::int32_t index) override;
  std::string scope_path(std::uint32_t scope) const override;
  std::string_view session_name() const override;
  std::uint32_t op_count() const override;

  void record_plan_op();
  template <class F>
  auto in_context(std::string_view what, F&& f);
  std::shared_ptr<DirectSubmission> submit_direct(Follow follow);
  FinishResult finish_direct();
  FinishResult finish_recorded(const FinishOptions& options);
  SessionRecord session_record();
  void report_error(const Error& error);
  void report_session(const FinishReport& report, std::string outcome, std::uint32_t submits = 0);

  std::shared_ptr<ExecutorCore> core_;
  SessionOptions options_;
  Mode mode_;
  Phase phase_ = Phase::recording;
  std::unique_ptr<GraphCapture> capture_;
  std::unique_ptr<DirectRun> direct_;                            // null in recorded sessions
  std::map<std::uint32_t, std::vector<std::byte>> input_bytes_;  // by graph tensor
  std::vector<NamedOutput> outputs_;
  std::int64_t begin_ns_;
  std::uint32_t ops_ = 0;
  std::uint64_t profile_id_ = 0;
  bool reported_ = false;  // the database has the session, or its submission sends it
};

}  // namespace reprise
