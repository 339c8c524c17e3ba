// GraphSession: one forward pass. A Recorder whose ops run once (direct) or become a graph that can
// be replayed (recorded); both go through the same capture, lowering and hazard tracking.
#pragma once
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "reprise/core/recorder.h"
#include "reprise/session/capture_pool.h"
#include "reprise/session/device.h"
#include "reprise/session/param_store.h"
#include "reprise/session/placed_experts.h"
#include "reprise/session/results.h"
#include "reprise/session/state_block.h"

namespace reprise {

class ExecutorCore;
class Session;

/// A container that goes at the end of the statement: its elements have to be kept.
template <class R, class T>
concept TemporaryOf = std::ranges::contiguous_range<R> && !std::ranges::borrowed_range<R> &&
                      std::same_as<std::ranges::range_value_t<R>, T>;

/// Values of an input, by name. Those of a temporary container are kept, {"x", std::vector{1.F}};
/// others are of the caller, who keeps them until the call that takes this returns.
struct NamedInput {
  NamedInput(std::string_view of, std::span<const float> values)
      : name(of), dtype(DType::f32), bytes(std::as_bytes(values)) {}
  NamedInput(std::string_view of, std::span<const std::int32_t> values)
      : name(of), dtype(DType::i32), bytes(std::as_bytes(values)) {}
  NamedInput(std::string_view of, DType type, std::span<const std::byte> raw)
      : name(of), dtype(type), bytes(raw) {}
  template <TemporaryOf<float> R>
  NamedInput(std::string_view of, R&& values) : NamedInput(of, DType::f32, keep(values)) {}
  template <TemporaryOf<std::int32_t> R>
  NamedInput(std::string_view of, R&& values) : NamedInput(of, DType::i32, keep(values)) {}
  template <TemporaryOf<std::byte> R>
  NamedInput(std::string_view of, DType type, R&& raw) : NamedInput(of, type, keep(raw)) {}

  std::string name;
  DType dtype;
  std::span<const std::byte> bytes;
  std::shared_ptr<const std::vector<std::byte>> kept{};  // what `bytes` are of, or null

 private:
  template <class R>
  static std::shared_ptr<const std::vector<std::byte>> keep(const R& values) {
    const auto all = std::as_bytes(std::span(values));
    return std::make_shared<const std::vector<std::byte>>(all.begin(), all.end());
  }
  NamedInput(std::string_view of, DType type, std::shared_ptr<const std::vector<std::byte>> values)
      : name(of), dtype(type), bytes(*values), kept(std::move(values)) {}
};

/// A persistent tensor in the place of an input.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A field of the state that counts rows of tensors, and how many there may be.
struct ExtentBucket {
  std::string field;
  std::int64_t max = 0;
};

struct SessionOptions {
  std::string name{};  // of the graph in messages and the database; "direct" or "recorded" if empty
  StateBlock state{};  // empty: the session has no state
  /// Of recorded sessions with state: how often one launch of the graph may run its body.
  std::uint32_t max_iterations = 1;
  /// Fields of the host that count rows: {{"rows", 32}}. Recorder::extent("rows") is the first
  /// dimension of a shape then, and one graph serves every number of rows from 0 to its bucket at
  /// the cost of that many. Kernels are chosen, and memory is planned, for the bucket. With 0 rows
  /// nothing runs, as in an iteration after the last one. Inputs of such a shape may be given any
  /// number of rows up to the bucket, but at least those of the launch; outputs have those. A
  /// direct session has the rows of its field when it begins.
  std::vector<ExtentBucket> extents{};
  /// Direct sessions only. Submits what was encoded after every so many ops, so that the device
  /// begins while the rest is recorded. A part that was submitted runs even if the session is
  /// discarded. The first part sends the state. 0: submits everything at the end.
  /// Errors: invalid_argument in a recorded session.
  std::uint32_t ops_per_submit = 0;
  /// Of the inputs that the session declares without values, each once. The session must declare
  /// all of them. Their bytes are copied when it begins.
  std::vector<NamedInput> inputs{};
  /// What param() asks for; empty: the session has no params.
  ParamStore params{};
  /// Inputs that lie in persistent tensors: input(name, shape, dtype) returns that tensor, which
  /// has the shape and dtype it asks for, and nothing is sent. Not all have to be asked for.
  std::vector<NamedTensor> tensors{};
  /// What experts() computes with, set by an ExecutableGraph.
  /// Errors: invalid_argument in any other session.
  ExpertSetup experts{};
};

inline constexpr std::uint32_t kMaxIterations = 4096;
/// Outputs of at most so many bytes and of fixed shapes, in elements of 4 bytes, are kept of every
/// iteration of a launch; of others, those of the last one that ran.
inline constexpr std::uint64_t kRowOutputBytes = 4096;

/// Recorded sessions only. Errors: invalid_argument in a direct session, unless all are defaults.
struct FinishOptions {
  ReuseRule reuse = ReuseRule::epoch;  // of the arena
  PassOptions passes{};
  std::size_t slots = 2;  // launches that may be in flight or unreleased; 1 to 64
  bool run = true;        // false: the graph is made, but nothing runs
  CapturePool pool{};     // of the arena; empty: the graph has one of its own
  /// Of graphs with host steps. True: a launch submits all its segments at once, and the device
  /// waits for the functions; that saves a submission's latency behind every host step. Work of
  /// other sessions that is submitted meanwhile waits for the functions too, and no wait times out
  /// because of them: a function that waits for the device itself waits for ever. Where a function
  /// throws, what follows still runs, without any other function: outputs of host steps are zeros,
  /// tensors in place keep their values. The launch throws and exposes nothing, but what the
  /// segments write to state and persistent tensors is written.
  bool joined_host_steps = false;
};

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

}  // namespace reprise
