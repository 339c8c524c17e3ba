// GraphSession: one forward pass. A Recorder whose ops run once (direct) or become a graph that can
// be replayed (recorded). Both go through the same capture, lowering and hazard tracking.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "reprise/core/recorder.h"
#include "reprise/session/expert_store.h"
#include "reprise/session/results.h"
#include "reprise/session/session_options.h"

namespace reprise {

class ExecutorCore;
class Session;

enum class SessionPhase : std::uint8_t { recording, finished, invalidated };
std::string_view name_of(SessionPhase phase);

/// The status of a session.
struct SessionStatus {
  SessionPhase phase = SessionPhase::recording;
  std::uint32_t op_index = 0;  // ops so far; invalidated: index of the op that failed
  std::string label{};         // invalidated: what failed, "rms_norm (layer.3/attn)"
  std::string reason{};        // invalidated: the message of the error
  SourceLocation where{};      // invalidated: the line that called it, if it was an op
};

/// An open session. After an error it is invalidated, and every later call says why.
/// Lifetime: a session destroyed before finish() is discarded. Only what was submitted before runs
/// (see ops_per_submit and host_step), and the executor stays usable.
/// Threads: not thread-safe.
class GraphSession final : public Recorder {
 public:
  /// Made by a GraphExecutor.
  explicit GraphSession(std::unique_ptr<Session> session);
  GraphSession(const GraphSession&) = delete;
  GraphSession& operator=(const GraphSession&) = delete;
  ~GraphSession() override;

  /// Declares a tensor whose values the host gives: now, and before later launches with
  /// CapturedGraph::set_input. Names are unique among inputs.
  [[nodiscard]] Tensor input(std::string_view name, const Shape& shape,
                             std::span<const float> values,
                             SourceLocation where = SourceLocation::here());
  [[nodiscard]] Tensor input(std::string_view name, const Shape& shape,
                             std::span<const std::int32_t> values,
                             SourceLocation where = SourceLocation::here());
  [[nodiscard]] Tensor input(std::string_view name, const Shape& shape, DType dtype,
                             std::span<const std::byte> bytes,
                             SourceLocation where = SourceLocation::here());
  /// Declares an input with the values of that name in SessionOptions::inputs, or returns the
  /// tensor of that name in SessionOptions::tensors.
  [[nodiscard]] Tensor input(std::string_view name, const Shape& shape, DType dtype = DType::f32,
                             SourceLocation where = SourceLocation::here());
  /// Returns the param of that name of SessionOptions::params, a persistent tensor. Declares it if
  /// that did not happen yet.
  [[nodiscard]] Tensor param(std::string_view name, const Shape& shape, DType dtype = DType::f32,
                             SourceLocation where = SourceLocation::here());
  /// Records the experts of a layer of SessionOptions::experts on the rows that `ids` say. `f` is
  /// called once, or several times if the cells of a layer hold fewer experts than a run may route
  /// to. It makes the same calls each time; the result of the last one has all experts.
  /// Shapes: ids i32 [rows, used]; rows may be an extent.
  /// Errors: invalid_argument in a session without a store; unknown_name.
  [[nodiscard]] Tensor experts(std::string_view layer, const Tensor& ids, const ExpertFunction& f,
                               SourceLocation where = SourceLocation::here());
  /// Makes a contiguous tensor readable after finish() and after every launch. Names are unique
  /// among outputs. Persistent tensors may be outputs.
  void output(std::string_view name, const Tensor& tensor,
              SourceLocation where = SourceLocation::here());
  /// Runs the recording. Nothing can be recorded afterwards.
  FinishResult finish(const FinishOptions& options = {});
  /// Submits what a direct session encoded and returns at once.
  /// Errors: invalid_argument in a recorded session: finish it and use CapturedGraph::launch_async.
  Ticket submit();

  /// Returns the status; works in every phase.
  SessionStatus status() const;

  std::string tensor_name(const TensorRecord& tensor) const override;

  /// For this layer only; the type is incomplete for users.
  Session& inner() const { return *session_; }
  /// For this layer only: makes a call on it. An error says where it came from, and invalidates the
  /// session.
  void in_session(std::string_view what, const std::function<void(Session&)>& call);

 private:
  void append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) override;
  void require_open() const override;
  StateField find_state(std::string_view field) const override;
  Extent find_extent(std::string_view field) const override;
  Tensor find_block() override;
  Tensor find_array(std::string_view array) override;
  std::uint32_t open_scope(std::uint32_t outer, std::string_view name, std::int32_t index) override;
  std::string scope_path(std::uint32_t scope) const override;
  std::string_view session_name() const override;
  std::uint32_t op_count() const override;
  void note_failure(const Error& error) const noexcept override;

  std::unique_ptr<Session> session_;
};

/// The pass of a key: records it into the given session, or runs it there. Declares inputs with
/// input(name, shape, dtype) and names every result with output(). A replay does not call it, so
/// nothing outside of the session may depend on the call.
using RecordFunction = std::function<void(GraphSession&)>;

}  // namespace reprise
