// GraphSession: one forward pass. A Recorder whose ops run once (direct) or become a graph that can
// be replayed (recorded); both go through the same capture, lowering and hazard tracking.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reprise/core/recorder.h"
#include "reprise/session/placed_experts.h"
#include "reprise/session/results.h"
#include "reprise/session/session_options.h"

namespace reprise {

class ExecutorCore;
class Session;

enum class SessionPhase : std::uint8_t { recording, finished, invalidated };
std::string_view name_of(SessionPhase phase);

/// Where a session stands.
struct SessionStatus {
  SessionPhase phase = SessionPhase::recording;
  std::uint32_t op_index = 0;  // ops so far; invalidated: of the op that failed
  std::string label{};         // invalidated: what failed, "rms_norm (layer.3/attn)"
  std::string reason{};        // invalidated: the message of the error
  SourceLocation where{};      // invalidated: the line that called it, if it was an op
};

/// Destroyed unfinished, it is discarded: nothing runs that was not handed over before (see
/// ops_per_submit and host_step) and the executor stays usable. After a throw
/// it is invalidated and every later call says why. Not thread-safe.
class GraphSession final : public Recorder {
 public:
  /// Made by a GraphExecutor.
  explicit GraphSession(std::unique_ptr<Session> session);
  GraphSession(const GraphSession&) = delete;
  GraphSession& operator=(const GraphSession&) = delete;
  ~GraphSession() override;

  /// A tensor whose values the host gives: now, and before later launches with
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
  /// Its values are those of that name in SessionOptions::inputs, or it is the tensor of that name
  /// in SessionOptions::tensors.
  [[nodiscard]] Tensor input(std::string_view name, const Shape& shape, DType dtype = DType::f32,
                             SourceLocation where = SourceLocation::here());
  /// The param of that name of SessionOptions::params, declared if it was not: a persistent tensor.
  [[nodiscard]] Tensor param(std::string_view name, const Shape& shape, DType dtype = DType::f32,
                             SourceLocation where = SourceLocation::here());
  /// The experts of a layer of SessionOptions::experts on the rows that ids, i32 [rows, used], say.
  /// `f` is called once, or several times if the cells of a layer hold fewer experts than a run may
  /// route to: it makes the same calls each time, and what the last one returns has all of them.
  /// Passes of an ExecutableGraph only; shapes are fixed. Throws invalid_argument elsewhere,
  /// unknown_name.
  [[nodiscard]] Tensor experts(std::string_view layer, const Tensor& ids, const ExpertFunction& f,
                               SourceLocation where = SourceLocation::here());
  /// Makes a contiguous tensor readable after finish() and after every launch. Names are unique
  /// among outputs. Persistent tensors may be outputs.
  void output(std::string_view name, const Tensor& tensor,
              SourceLocation where = SourceLocation::here());
  /// Runs what was recorded. Nothing can be recorded afterwards.
  FinishResult finish(const FinishOptions& options = {});
  /// Direct sessions: hands over what was encoded and returns at once. Recorded ones throw
  /// invalid_argument: finish them and use CapturedGraph::launch_async.
  Ticket submit();

  /// Never throws for what became of the session.
  SessionStatus status() const;

  std::string tensor_name(const TensorRecord& tensor) const override;

  /// For this layer; users never see the whole type.
  Session& inner() const { return *session_; }
  /// For this layer: a call on it whose errors say where they came from, and invalidate it.
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

/// The pass of a key: records it into the session it is given, or runs it there. Declares inputs
/// with input(name, shape, dtype) and gives every result a name with output(). Nothing outside of
/// the session may depend on its being called: a replay does not call it.
using RecordFunction = std::function<void(GraphSession&)>;

}  // namespace reprise
