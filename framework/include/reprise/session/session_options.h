// Options of sessions, of finish() and of launches.
#pragma once
#include <chrono>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "reprise/graph/passes.h"
#include "reprise/session/capture_pool.h"
#include "reprise/session/expert_store.h"
#include "reprise/session/param_store.h"
#include "reprise/session/state_block.h"

namespace reprise {

/// A temporary container: its elements have to be kept.
template <class R, class T>
concept TemporaryOf = std::ranges::contiguous_range<R> && !std::ranges::borrowed_range<R> &&
                      std::same_as<std::ranges::range_value_t<R>, T>;

/// Values of an input, by name.
/// Lifetime: values of a temporary container are kept, {"x", std::vector{1.F}}. Any others belong
/// to the caller, who keeps them until the call that takes this returns.
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
  std::shared_ptr<const std::vector<std::byte>> kept{};  // owner of `bytes`, or null

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
  std::string name{};  // for messages and the database; "direct" or "recorded" if empty
  StateBlock state{};  // empty: the session has no state
  /// Recorded sessions with state only: how often one launch of the graph may run its body.
  std::uint32_t max_iterations = 1;
  /// Fields of the host that count rows: {{"rows", 32}}. Recorder::extent("rows") is the first
  /// dimension of a shape then. One graph serves every number of rows from 0 to its bucket, at the
  /// cost of that many. Kernels are chosen, and memory is planned, for the bucket. With 0 rows
  /// nothing runs, as in an iteration after the last one. A direct session has the rows of its
  /// field when it begins.
  /// Shapes: inputs of such a shape may have any number of rows up to the bucket, but at least
  /// those of the launch; outputs have those of the launch.
  std::vector<ExtentBucket> extents{};
  /// Direct sessions only. Submits what was encoded after every so many ops, so that the device
  /// begins while the rest is recorded. A part that was submitted runs even if the session is
  /// discarded. The first part sends the state. 0: submits everything at the end.
  /// Errors: invalid_argument in a recorded session.
  std::uint32_t ops_per_submit = 0;
  /// Values of the inputs that the session declares without values, each once. The session must
  /// declare all of them.
  /// Lifetime: their bytes are copied when the session begins.
  std::vector<NamedInput> inputs{};
  /// Params for param(); empty: the session has no params.
  ParamStore params{};
  /// Inputs that lie in persistent tensors: input(name, shape, dtype) returns that tensor, which
  /// has that shape and dtype, and nothing is sent. Not all have to be asked for.
  std::vector<NamedTensor> tensors{};
  /// Experts for experts(). Each session has cells of its own, and so has the graph that it is
  /// finished with; nothing counts there what hits, and no refresh moves anything. An
  /// ExecutableGraph has ExecutableOptions::experts instead. Lint and prewarm have no weights.
  /// Errors: invalid_argument in passes that are kept under a key; out_of_memory for a budget
  /// without room for an expert of each layer.
  ExpertSetup experts{};
};

inline constexpr std::uint32_t kMaxIterations = 4096;
/// Outputs of fixed shapes and at most so many bytes, in elements of 4 bytes, are kept of every
/// iteration of a launch. Any others are kept of the last one that ran.
inline constexpr std::uint64_t kRowOutputBytes = 4096;

/// Recorded sessions only.
/// Errors: invalid_argument in a direct session, unless all are defaults.
struct FinishOptions {
  ReuseRule reuse = ReuseRule::epoch;  // of the arena
  PassOptions passes{};
  std::size_t slots = 2;  // launches that may be in flight or unreleased; 1 to 64
  bool run = true;        // false: the graph is made, but nothing runs
  /// For the arena; empty: the graph has an arena of its own, as one has that runs in parts: with
  /// host steps, or with experts whose misses are uploaded.
  CapturePool pool{};
  /// Graphs with host steps only. True: a launch submits all its segments at once, and the device
  /// waits for the functions. That saves a submission's latency behind every host step. Work of
  /// other sessions that is submitted meanwhile waits for the functions too. No wait times out
  /// because of them: a function that waits for the device itself waits for ever. A graph whose
  /// experts the host moves (ExpertMiss::upload) submits one segment at a time nevertheless.
  ///
  /// If a function fails, the rest still runs, without any other function: outputs of host steps
  /// are zeros, tensors in place keep their values. The launch throws and exposes nothing, but what
  /// the segments write to state and persistent tensors is written.
  bool joined_host_steps = false;
};

struct LaunchOptions {
  /// How often the body runs, one after another on the device without the host in between: 1 to
  /// SessionOptions::max_iterations. Fewer run where the state's stop field is set or a field
  /// leaves its range meanwhile: see iterations().
  std::uint32_t iterations = 1;
  /// How long to wait for another thread to release a ticket, if tickets hold all slots.
  /// Errors: invalid_argument in try_launch_async(), which never waits.
  std::chrono::nanoseconds slot_timeout{0};
};

}  // namespace reprise
