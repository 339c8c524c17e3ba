// CapturedGraph: a recording that can be replayed any number of times. Its state and inputs change
// between launches; its steps, memory and commands do not.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/profile.h"
#include "reprise/session/session_options.h"

namespace reprise {

struct ComputeGraph;
struct ExecutionPlan;
class PartialRun;
class Recording;

/// A recorded pass that can be launched any number of times. An empty graph (default constructed)
/// supports only `operator bool` and num_replays().
/// Lifetime: retains everything it uses: weights, caches, state, its arena. Destroying a graph does
/// not disturb its launches. With a profiling database it waits for those whose tickets are
/// released.
/// Threads: not thread-safe. Different graphs may be used from different threads, and so may the
/// tickets of one graph.
class CapturedGraph {
 public:
  CapturedGraph() = default;
  /// Makes a graph of a recording. `last` is the ticket of a launch whose outputs the graph holds.
  explicit CapturedGraph(std::shared_ptr<Recording> recording, Ticket last = {});
  explicit operator bool() const { return recording_ != nullptr; }

  /// Sets an input for this and later launches.
  /// Errors: unknown_name, dtype_mismatch, size_mismatch; extent_out_of_range for rows above the
  /// bucket.
  void set_input(std::string_view input, std::span<const float> values);
  void set_input(std::string_view input, std::span<const std::int32_t> values);
  void set_input(std::string_view input, DType dtype, std::span<const std::byte> bytes);
  /// Sets a field or an array of the state, or several at once: see StateBlock::set.
  template <StateValueOf V>
  void set_state(std::string_view name, const V& value) {
    set_state({{name, value}});
  }
  void set_state(std::initializer_list<StateValue> values);

  /// Submits and waits. Discards the outputs of the previous launch().
  /// Errors: invalid_argument if a state field would leave its range at once; extent_out_of_range;
  /// busy if tickets hold all slots; stale, shut_down, device_lost, timeout, driver_error.
  void launch(const LaunchOptions& options = {});
  /// Returns how many iterations of the last launch() ran.
  std::uint32_t iterations() const;
  /// Returns an output of the last launch(): of the last iteration that ran, or of an earlier one.
  /// T and errors: see Ticket.
  /// Lifetime: outputs stay until the next launch of any kind.
  template <OutputElement T = float>
  std::vector<T> read(std::string_view output) const {
    return elements_of<T>(output, this->output(output));
  }
  template <OutputElement T = float>
  std::vector<T> read(std::string_view output, std::uint32_t iteration) const {
    return elements_of<T>(output, this->output(output, iteration));
  }
  OutputView output(std::string_view name) const;
  OutputView output(std::string_view name, std::uint32_t iteration) const;
  /// Returns the names of all outputs, in order of declaration.
  std::vector<std::string> output_names() const;
  /// Returns a state field after the last replay known to be complete.
  template <StateElement T = std::int32_t>
  T state(std::string_view field) const {
    return state_block().get<T>(field);
  }
  /// Returns a state field after an iteration of the last launch().
  template <StateElement T = std::int32_t>
  T state(std::string_view field, std::uint32_t iteration) const {
    return last_launch().state<T>(field, iteration);
  }

  /// Submits without waiting, and never overwrites outputs that a ticket holds. The outputs live in
  /// a slot of their own. If no slot is free, waits for the oldest one that no ticket holds.
  /// Errors: those of launch(); busy if tickets hold all slots for longer than slot_timeout.
  /// Lifetime: outputs stay until the ticket is released.
  Ticket launch_async(const LaunchOptions& options = {});
  /// Submits as launch_async() does, but returns an empty result where that would wait.
  std::optional<Ticket> try_launch_async(const LaunchOptions& options = {});
  std::size_t slots() const;

  /// Returns why the graph cannot be launched any more: memory it uses was freed (Device::free,
  /// grow). Empty while it can. Costs one load as long as nothing is freed anywhere.
  /// Errors: launches of a stale graph throw stale with this text.
  std::optional<std::string> stale() const;
  /// Replaces the buffer of `from` by that of `to` from the next launch on, wherever the graph uses
  /// it. `to` is another sequence's cache, for example, or the replacement of a freed tensor.
  /// Launches in flight keep the old buffer; nothing waits. The commands are encoded anew. After an
  /// error nothing has changed.
  /// Errors: invalid_argument if the graph does not use `from` or uses the buffer of `to` already,
  /// if spec, offset or bytes of the buffers differ, for state blocks, for a different device, for
  /// imported memory that the graph writes; stale if `to` is freed.
  void rebind(const Tensor& from, const Tensor& to);

  /// Returns whether the session was finished with FinishOptions::pool, and that pool.
  /// Errors: invalid_argument from pool() without one.
  bool has_pool() const;
  const CapturePool& pool() const;

  /// Waits until a launch would find a slot that no ticket holds. Returns false after `timeout`.
  bool wait_for_slot(std::chrono::nanoseconds timeout);
  /// Returns whether a slot is held, or a launch is being made or in flight.
  bool in_use() const;
  /// Returns the bytes of device and host memory that only this graph uses: the arena and the
  /// slots.
  std::uint64_t bytes() const;
  /// Returns whether launches replay. False on devices that cannot: every launch encodes the plan
  /// again.
  bool replays() const;

  /// Runs nodes 0 to `node` once, or that node alone, and waits. Every tensor they left can be
  /// read: for finding where numbers go wrong. Discards the outputs of the previous launch().
  ///
  /// Nodes are rows of graph().nodes: one for each op call, in the order of the calls, and none for
  /// views. Two come from no call. `plan` is node 0 of graphs with an extent, several iterations,
  /// or carried or derived state. `collect` makes the last nodes of graphs with several iterations.
  ///
  /// Inputs and state are sent as with a launch, and host steps run. What the nodes write to
  /// persistent tensors and carried state stays written; the caller restores it. The first node
  /// patches carried fields and computes derived ones. A node alone therefore sees the values of
  /// the previous run, and patches wait for the next launch or prefix. A node alone reads what
  /// earlier runs left in the arena. The run does not count as a replay and is not in the profiling
  /// database.
  /// Errors: invalid_argument if the node index is out of range, and for graphs of several
  /// iterations; those of launch().
  PartialRun run_prefix(std::uint32_t node);
  PartialRun run_node(std::uint32_t node);

  /// Runs each kernel once over nothing, so that drivers that compile at first use do it now and
  /// not in the first launch.
  /// Units: returns nanoseconds; 0 if everything was ready.
  std::uint64_t upload();
  bool is_uploaded() const;

  /// Chooses how the next replays are timed; empty: as the executor says.
  void set_timing(std::optional<TimingMode> mode);
  /// Returns the number of replays that succeeded and are known to be complete, the run inside
  /// finish() included.
  std::uint64_t num_replays() const;
  const ComputeGraph& graph() const;
  const ExecutionPlan& plan() const;

  /// Writes the graph to a file: the recording, its plan, and the inputs as they were set last.
  /// Bytes of weights, caches and state are not written. GraphExecutor::load_graph reads the file,
  /// in this process or another one.
  /// Errors: invalid_argument for a persistent tensor without a name of its own, naming it;
  /// unsupported for host steps, feeds that copy or swap, experts on a budget and kernels that are
  /// a function alone; io.
  void save(const std::filesystem::path& path) const;
  /// Return hashes of the graph, 32 hex digits. The structure is what recordings of one pass have
  /// in common on any device, under any names. The content is the whole graph with its plan, on
  /// this device. The profiling database stores both with the graph.
  std::string structure_hash() const;
  std::string content_hash() const;
  /// Returns the times of the last launch().
  const SubmissionTimes& last_times() const;
  /// For this layer only; the type is incomplete for users.
  Recording& inner() const;

 private:
  const StateBlock& state_block() const;
  const Ticket& last_launch() const;
  std::shared_ptr<Recording> recording_;
  Ticket last_;
};

}  // namespace reprise
