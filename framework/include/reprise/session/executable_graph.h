// ExecutableGraph: a pass that is compiled once and run by the names of its inputs and outputs.
// Weights are params of a store, what stays on the device between runs lies in handles, and a
// ladder of buckets serves every extent. Everything runs as replays.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reprise/session/graph_executor.h"
#include "reprise/session/param_store.h"

namespace reprise {

class Executable;

struct ExecutableOptions {
  std::string name = "executable";  // of its graphs in messages and the database
  /// Fields that the pass reads. Every fork has a block of its own.
  StateLayout state{};
  /// The field that counts rows: Recorder::extent of that name is a dimension of shapes. A layout
  /// without it gets it. Empty: all shapes are fixed.
  std::string extent{};
  /// Of the extent, ascending: a run uses the recording of the smallest bucket that holds its rows.
  std::vector<std::int64_t> buckets{};
  ParamStore params{};    // empty: one of its own
  std::size_t slots = 2;  // of each recording: runs in flight or held by tickets
  PassOptions passes{};
  /// Of a pass that calls GraphSession::experts. Every fork has cells of its own.
  ExpertSetup experts{};
};

enum class HandleResidency : std::uint8_t {
  device,
  host,  // memory of the host that the device reads and writes in place
};

/// A named tensor that stays between runs.
struct Handle {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  HandleResidency residency = HandleResidency::device;
};

/// How an output gets into a handle. Whichever, it is part of the run's own submission, and a run
/// of no rows leaves the handle as it is.
enum class FeedMode : std::uint8_t {
  in_place,  // the pass writes the memory of the handle itself: the output is the handle's tensor
  swap,      // the output is computed into a second buffer, which is the handle's from then on
  copy,      // a copy at the end of the run
};

struct FeedOptions {
  FeedMode mode = FeedMode::copy;
  /// Whether runs bring the output to the host as well. Otherwise read(handle) does, when asked.
  bool to_host = false;
};

/// Which input, found once: see ExecutableGraph::input_slot.
struct InputSlot {
  std::uint32_t index = 0xFFFFFFFF;
};

/// The slot of a run that is about to be submitted: inputs are written where the device reads them.
/// At most one per graph, and the graph runs nothing else meanwhile. Destroyed without submit() it
/// gives the slot back.
class PreparedRun {
 public:
  PreparedRun(PreparedRun&&) noexcept;
  PreparedRun& operator=(PreparedRun&&) noexcept;
  ~PreparedRun();
  /// The memory of an input, uninitialised: as many rows as the run has. It counts as given; all of
  /// it is to be written before submit(). Throws invalid_argument for inputs that a handle feeds.
  std::span<std::byte> bytes(InputSlot input);
  /// Throws size_mismatch.
  void write(InputSlot input, std::span<const std::byte> bytes);
  /// Throws missing_input, naming it, and keeps the slot.
  Ticket submit();
  Ticket run();

  /// By ExecutableGraph::prepare.
  PreparedRun(std::shared_ptr<Executable> executable, std::uint64_t number);

 private:
  Executable& executable() const;
  std::shared_ptr<Executable> executable_;
  std::uint64_t number_;
};

/// Not thread-safe; forks may be used from different threads. Errors have codes of their own:
/// unknown_name, dtype_mismatch, shape_mismatch, size_mismatch, missing_input, extent_out_of_range,
/// each with actual and allowed values. After an error nothing has run and nothing has changed. One
/// that was moved from throws invalid_argument.
class ExecutableGraph {
 public:
  /// Records the pass once without running it: its errors are thrown here. The pass asks the
  /// session for input(name, shape, dtype) and param(name, shape, dtype), and declares outputs; it
  /// is called again for every recording, also by forks, but never by two at a time.
  ExecutableGraph(GraphExecutor& executor, const RecordFunction& pass,
                  ExecutableOptions options = {});
  ExecutableGraph(ExecutableGraph&&) noexcept;
  ExecutableGraph& operator=(ExecutableGraph&&) noexcept;
  ~ExecutableGraph();

  /// Returns what runs take and leave. Shapes: of the largest bucket.
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  const ParamStore& params() const;
  /// Fields other than the extent are set here before a run.
  const StateBlock& state() const;
  /// Of this graph and its forks: how often the pass was recorded for a bucket and its handles.
  std::size_t recordings() const;

  /// Makes the recordings of all buckets now, with the handles and feeds there are, and their
  /// kernels ready: no run has to.
  void compile();

  /// See ParamStore::set.
  void set_param(std::string_view name, std::span<const float> values) const;
  void set_param(std::string_view name, std::span<const std::byte> bytes, DType dtype) const;

  /// Every run needs all params set, and for every input a value or a handle of that name; a value
  /// goes before a handle, which keeps its own. Inputs with an extent are given the rows of the
  /// run, or more. run() waits; its ticket holds
  /// a slot, with the outputs, until it goes.
  Ticket run(const std::vector<NamedInput>& inputs = {});
  /// Does not wait for the run. Errors: busy if tickets hold all slots.
  [[nodiscard]] Ticket submit(const std::vector<NamedInput>& inputs = {});
  /// The same; empty where it would have to wait for a slot.
  [[nodiscard]] std::optional<Ticket> try_submit(const std::vector<NamedInput>& inputs = {});
  /// Everything submitted. Throws the first failure.
  void wait_all();
  /// One run after another, as many in flight as there are slots, each with inputs of its own;
  /// what each left is handed over in order, before its slot is used again.
  void run_pipelined(std::span<const std::vector<NamedInput>> runs,
                     const std::function<void(std::size_t, const Ticket&)>& done);
  std::vector<OutputSet> run_pipelined(std::span<const std::vector<NamedInput>> runs);

  /// Throws unknown_name.
  InputSlot input_slot(std::string_view name) const;
  /// For the active extent, or the largest bucket. Waits for a slot.
  PreparedRun prepare();

  /// Of all following runs, until it is changed or cleared. Without one, the inputs with an extent
  /// say how many rows a run has. 0: nothing runs, and there are no outputs. Throws
  /// extent_out_of_range below 0 and above the largest bucket.
  void set_active_extent(std::int64_t rows);
  void clear_active_extent();
  std::optional<std::int64_t> active_extent() const;

  /// Memory of its own, zeros. A handle with the name of an input is where runs take it from; any
  /// other is where a feed puts results. Throws shape_mismatch and dtype_mismatch if the input is
  /// another, invalid_argument if there is such a handle, out_of_memory.
  void create_handle(const Handle& handle);
  bool has_handle(std::string_view name) const;
  std::vector<Handle> handles() const;
  /// Its values from the next run on. Throws unknown_name, dtype_mismatch, size_mismatch.
  void bind(std::string_view handle, std::span<const float> values);
  void bind(std::string_view handle, std::span<const std::byte> bytes, DType dtype);
  /// Takes a persistent tensor of the caller's for its memory: two graphs may share one. Handles
  /// that swap refuse it.
  void bind(std::string_view handle, const Tensor& tensor);
  /// What the last run left; waits for the last writer alone.
  std::vector<std::byte> read_bytes(std::string_view handle) const;
  template <OutputElement T = float>
  std::vector<T> read(std::string_view handle) const {
    const std::vector<std::byte> bytes = read_bytes(handle);
    return elements_of<T>(handle, {handle_spec(handle), bytes});
  }
  /// Every run, of whatever kind, puts this output into the handle. Throws unknown_name,
  /// shape_mismatch, dtype_mismatch; invalid_argument if the handle or the output has a feed
  /// already, and in_place if the pass does not write the handle.
  void feed(std::string_view handle, std::string_view output, const FeedOptions& options = {});

  /// Shares params, plans and pipelines; has a state at its initial values, an arena, slots and
  /// handles, zeros, of its own, with the same feeds and the same active extent.
  ExecutableGraph fork() const;

  /// The experts that have cells before the next run, of one layer or of each: a flag per expert,
  /// at most as many set as there are cells. Misses and refreshes may change it. Throws
  /// size_mismatch for another number of flags, invalid_argument for more of them than cells.
  void set_resident_experts(std::string_view layer, const std::vector<bool>& resident);
  void set_resident_experts(const std::vector<bool>& resident);
  std::vector<bool> resident_experts(std::string_view layer) const;
  /// Keeps what routers choose in a ring on the device, of so many runs; 0: no longer.
  void capture_routes(std::uint32_t runs);
  /// What runs chose since the last call, the oldest first; waits for them.
  RouteCapture take_routes();
  /// Per layer, since the graph was made, or since the last take.
  std::vector<ExpertStats> expert_stats() const;
  std::vector<ExpertStats> take_expert_stats();

 private:
  explicit ExecutableGraph(std::shared_ptr<Executable> executable);
  Executable& inner() const;
  TensorSpec handle_spec(std::string_view handle) const;
  std::shared_ptr<Executable> executable_;
};

}  // namespace reprise
