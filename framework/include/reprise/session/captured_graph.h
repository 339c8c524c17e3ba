// CapturedGraph: a recording that can be replayed for ever. Its state and inputs change between
// launches; its steps, memory and commands do not.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/graph/execution_plan.h"
#include "reprise/profile/timing_mode.h"
#include "reprise/session/session_options.h"

namespace reprise {

class PartialRun;
class Recording;

/// Retains everything it uses: weights, caches, state, its arena. Not thread-safe; different graphs
/// may be used from different threads, and so may the tickets of one. An empty graph (default
/// constructed) can only be asked whether it is, and for its replays. Destroying a graph does not
/// disturb its launches; with a profiling database it waits for those whose tickets are released.
class CapturedGraph {
 public:
  CapturedGraph();
  /// `last`: of a launch whose outputs it holds.
  explicit CapturedGraph(std::shared_ptr<Recording> recording, Ticket last = {});
  CapturedGraph(CapturedGraph&&) noexcept;
  CapturedGraph& operator=(CapturedGraph&&) noexcept;
  ~CapturedGraph();
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

  /// Submits and waits. Takes the outputs of the launch() before.
  /// Errors: invalid_argument if a state field would leave its range at once; extent_out_of_range;
  /// busy if tickets hold all slots; stale, shut_down, device_lost, timeout, driver_error.
  void launch(const LaunchOptions& options = {});
  /// How many iterations of the last launch() ran.
  std::uint32_t iterations() const;
  /// An output of the last launch(), until the next launch of any kind: of its last iteration that
  /// ran, or of an earlier one. T and errors: see Ticket.
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
  /// Of all outputs, in order of declaration.
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

  /// Submits without waiting. The outputs live in a slot of their own until the ticket is released;
  /// with all slots in use by the device alone it waits for the oldest. Never overwrites anything.
  /// Errors: those of launch(); busy if tickets hold all slots for longer than slot_timeout.
  Ticket launch_async(const LaunchOptions& options = {});
  /// As launch_async, but empty where that would wait.
  std::optional<Ticket> try_launch_async(const LaunchOptions& options = {});
  std::size_t slots() const;

  /// Why the graph cannot be launched any more: memory it uses was freed (Device::free, grow).
  /// Empty while it can. Costs one load as long as nothing is freed anywhere. A launch of a stale
  /// graph throws stale with this text.
  std::optional<std::string> stale() const;
  /// From the next launch on the graph uses the buffer of `to` wherever it used that of `from`:
  /// another sequence's cache, or what took the place of a freed tensor. Launches in flight keep
  /// the old one; nothing waits. The commands are encoded anew.
  /// Throws, and changes nothing: invalid_argument if the graph does not use `from` or uses the
  /// buffer of `to` already, if spec, offset or bytes of the buffers differ, for state blocks, for
  /// another device, for imported memory that the graph writes; stale if `to` is freed.
  void rebind(const Tensor& from, const Tensor& to);

  /// Whether the session was finished with FinishOptions::pool, and that pool. pool() throws
  /// invalid_argument without one.
  bool has_pool() const;
  const CapturePool& pool() const;

  /// Slots that tickets hold, or the graph itself for the outputs of its last launch().
  std::size_t held_slots() const;
  /// Waits until a launch would find a slot that no ticket holds. Returns false after `timeout`.
  bool wait_for_slot(std::chrono::nanoseconds timeout);
  /// Whether a slot is held or its launch is in flight.
  bool in_use() const;
  /// Memory of the device and the host that it has for itself: the arena and the slots.
  std::uint64_t bytes() const;
  /// False on devices that do not replay: every launch encodes the plan again.
  bool replays() const;

  /// Runs nodes 0 to `node` once, or that node alone, and waits. Nodes are rows of
  /// graph().nodes: one for each op call, in the order of the calls, and none for views.
  /// Two come from no call: `plan`, node 0 of graphs with an extent, several iterations, or carried
  /// or derived state, and `collect`, the last nodes of graphs with several iterations. Every
  /// tensor they left can be read: for finding where numbers go wrong. Inputs and state are sent as
  /// with a launch, host steps run, and what the nodes write to persistent tensors and carried
  /// state stays written: restoring it is the caller's. Patches of carried fields and derived
  /// fields are the work of the first node: a node alone sees the values of the run before, and
  /// patches wait for the next launch or prefix. A node alone reads what earlier runs left in the
  /// arena. Not counted as a replay, and not in the profiling database. Takes the outputs of the
  /// launch() before. Throws invalid_argument for a node there is not and for graphs of several
  /// iterations, otherwise as launch().
  PartialRun run_prefix(std::uint32_t node);
  PartialRun run_node(std::uint32_t node);

  /// Runs each kernel once over nothing, so that drivers that compile at first use do it now and
  /// not in the first launch. Nanoseconds it took; 0 if there was nothing left to do.
  std::uint64_t upload();
  bool is_uploaded() const;

  /// How the next replays are timed; empty: as the executor says.
  void set_timing(std::optional<TimingMode> mode);
  /// Replays that succeeded and are known to be complete, the run inside finish() included.
  std::uint64_t num_replays() const;
  const ComputeGraph& graph() const;
  const ExecutionPlan& plan() const;

  /// Writes the graph to a file: what was recorded, what its plan is, and the inputs as they were
  /// set last; not the bytes of weights, caches and state. GraphExecutor::load_graph reads it, in
  /// this process or another. Throws invalid_argument, naming it, for a persistent tensor without
  /// a name of its own, unsupported for ops that are not the library's, io.
  void save(const std::filesystem::path& path) const;
  /// 32 hex digits. The structure is what recordings of one pass have in common on any device,
  /// under any names; the content is all of it with its plan, on this device. The profiling
  /// database stores both with the graph.
  std::string structure_hash() const;
  std::string content_hash() const;
  /// Of the last launch().
  const SubmissionTimes& last_times() const;
  /// For this layer; users never see the whole type.
  Recording& inner() const;

 private:
  const StateBlock& state_block() const;
  const Ticket& last_launch() const;
  std::shared_ptr<Recording> recording_;
  Ticket last_;
};

}  // namespace reprise
