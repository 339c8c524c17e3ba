// ExecutableGraph: a pass that is compiled once and run by the names of its inputs and outputs.
// Weights are params of a store. Handles hold what stays on the device between runs. A ladder of
// buckets serves every extent. Everything runs as replays.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reprise/graph/port.h"
#include "reprise/session/graph_executor.h"
#include "reprise/session/param_store.h"

namespace reprise {

class Executable;

struct ExecutableOptions {
  std::string name = "executable";  // for messages and the database
  /// Fields that the pass reads. Every fork has a block of its own.
  StateLayout state{};
  /// The field that counts rows: Recorder::extent of that name is a dimension of shapes. It is
  /// added to a layout that lacks it. Empty: all shapes are fixed.
  std::string extent{};
  /// Upper bounds of the extent, ascending. A run uses the recording of the smallest bucket that
  /// holds its rows. The pass has the same inputs, layers of experts and routers in all of them.
  std::vector<std::int64_t> buckets{};
  ParamStore params{};    // empty: a new store, which no other graph has
  std::size_t slots = 2;  // per recording: runs in flight or held by tickets
  /// How many recordings are kept. There is one for each bucket that runs, for each set of inputs
  /// that come from handles, and another for every other run where handles swap. Those that were
  /// used least recently make room; one that runs or whose outputs are held stays.
  std::size_t max_recordings = ~std::size_t{0};
  PassOptions passes{};
  /// How often a run may run the pass on the device: see set_iterations. The pass has state then.
  std::uint32_t max_iterations = 1;
  /// For a pass that calls GraphSession::experts. Every fork has cells of its own.
  ExpertSetup experts{};
  /// Whether capture_routes() may be called of a pass without experts; it may of one that has some.
  bool routes = false;
};

enum class HandleResidency : std::uint8_t {
  device,
  host,  // memory of the host that the device reads and writes in place
};

/// A named tensor that stays between runs. Where it feeds an input that has an extent, or an output
/// with one feeds it, it has room for the rows of the largest bucket, and as many rows as it was
/// bound to or as the last run had that wrote it. All of them at first, zeros.
struct Handle {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  HandleResidency residency = HandleResidency::device;
};

/// How an output gets into a handle. In every mode this is part of the run's own submission. A run
/// of no rows leaves the handle as it is.
enum class FeedMode : std::uint8_t {
  in_place,  // the pass writes the memory of the handle itself: the output is the handle's tensor
  swap,      // the output goes into a second buffer, which is the handle's from then on
  copy,      // a copy at the end of the run
};

struct FeedOptions {
  FeedMode mode = FeedMode::copy;
  /// Whether runs bring the output to the host as well. Otherwise read(handle) does, when asked.
  bool to_host = false;
};

/// An input, found once: see ExecutableGraph::input_slot.
struct InputSlot {
  std::uint32_t index = 0xFFFFFFFF;
};

/// The slot of a run that is about to be submitted: inputs are written where the device reads them.
/// A graph has at most one, and runs nothing else meanwhile.
/// Lifetime: destroyed without submit(), it gives the slot back.
class PreparedRun {
 public:
  PreparedRun(PreparedRun&&) noexcept = default;
  PreparedRun& operator=(PreparedRun&&) noexcept;
  ~PreparedRun();
  /// Returns the memory of an input, uninitialised, with as many rows as the run has. The input
  /// counts as given; write all of it before submit().
  /// Errors: invalid_argument for inputs that a handle feeds.
  std::span<std::byte> bytes(InputSlot input);
  /// Copies the values of an input.
  /// Errors: size_mismatch.
  void write(InputSlot input, std::span<const std::byte> bytes);
  /// Submits the run; run() also waits for it.
  /// Errors: missing_input, naming the input; the slot is kept then.
  Ticket submit();
  Ticket run();

  /// Made by ExecutableGraph::prepare.
  PreparedRun(std::shared_ptr<Executable> executable, std::uint64_t number);

 private:
  Executable& executable() const;
  Executable& written() const;  // with all inputs
  std::shared_ptr<Executable> executable_;
  std::uint64_t number_;
};

/// A compiled pass. After an error nothing has run and nothing has changed.
/// Errors: unknown_name, dtype_mismatch, shape_mismatch, size_mismatch, missing_input,
/// extent_out_of_range, each with actual and allowed values; invalid_argument from one that was
/// moved from.
/// Threads: not thread-safe; forks may be used from different threads.
class ExecutableGraph {
 public:
  /// Records the pass once without running it. The pass asks the session for input(name, shape,
  /// dtype) and param(name, shape, dtype), and declares outputs. It is called again for every
  /// recording, also by forks, but never by two at a time.
  /// Errors: those of the pass.
  ExecutableGraph(GraphExecutor& executor, const RecordFunction& pass,
                  ExecutableOptions options = {});
  ExecutableGraph(ExecutableGraph&&) noexcept = default;
  ExecutableGraph& operator=(ExecutableGraph&&) noexcept = default;

  /// Returns the inputs and outputs of runs.
  /// Shapes: those of the largest bucket.
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  const ParamStore& params() const;
  /// Returns the state. Set fields other than the extent here before a run.
  const StateBlock& state() const;
  /// Returns how often this graph and its forks recorded the pass, for a bucket and its handles.
  std::size_t recordings() const;

  /// Makes the recordings of all buckets now, with the present handles and feeds, and their kernels
  /// ready. Runs record nothing then.
  /// Errors: invalid_argument if these are more than max_recordings.
  void compile();
  /// Returns the recording of the smallest bucket that holds so many rows, as a run finds it now
  /// whose inputs all come from handles where there are such: its graph, plan, decisions of passes,
  /// replay count and times, and save(). Makes it if there is none. A launch of it is a run that
  /// swaps no handles.
  /// Lifetime: it stays usable when the recording makes room, or handles change.
  /// Errors: extent_out_of_range; those of run(); busy.
  CapturedGraph captured(std::int64_t rows);
  /// Returns likewise for the largest bucket, or for fixed shapes.
  CapturedGraph captured();
  /// Chooses how the next runs are timed; empty: as the executor says.
  void set_timing(std::optional<TimingMode> mode);

  /// Sets a param: see ParamStore::set.
  void set_param(std::string_view name, std::span<const float> values) const;
  void set_param(std::string_view name, std::span<const std::byte> bytes, DType dtype) const;

  /// Runs the pass and waits. Every run needs all params set, and for every input a value or a
  /// handle of that name. A value has priority over a handle, which keeps its own. Inputs with an
  /// extent are given the rows of the run, or more.
  /// Lifetime: the ticket holds a slot, with the outputs, until it goes.
  Ticket run(const std::vector<NamedInput>& inputs = {});
  /// Submits a run without waiting for it.
  /// Errors: busy if tickets hold all slots.
  [[nodiscard]] Ticket submit(const std::vector<NamedInput>& inputs = {});
  /// Submits likewise; returns an empty result where it would have to wait for a slot.
  [[nodiscard]] std::optional<Ticket> try_submit(const std::vector<NamedInput>& inputs = {});
  /// Waits for everything submitted.
  /// Errors: the first failure.
  void wait_all();
  /// Runs one set of inputs after another, with as many runs in flight as there are slots. Hands
  /// over what each run left in order, before its slot is used again.
  void run_pipelined(std::span<const std::vector<NamedInput>> runs,
                     const std::function<void(std::size_t, const Ticket&)>& done);
  std::vector<OutputSet> run_pipelined(std::span<const std::vector<NamedInput>> runs);

  /// Finds an input.
  /// Errors: unknown_name.
  InputSlot input_slot(std::string_view name) const;
  /// Prepares a run of the active extent, else of the rows of handles that inputs with an extent
  /// come from, else of the largest bucket. Waits for a slot.
  PreparedRun prepare();

  /// Sets the rows of all following runs, until changed or cleared. Without it, the inputs with an
  /// extent say how many rows a run has, whether values or handles give them. 0: nothing runs, and
  /// there are no outputs.
  /// Errors: extent_out_of_range below 0 and above the largest bucket.
  void set_active_extent(std::int64_t rows);
  void clear_active_extent();
  std::optional<std::int64_t> active_extent() const;
  /// Sets how often every following run runs the pass, one after another on the device without the
  /// host in between, until changed. Each iteration finds the handles as the one before left them.
  /// Fewer run where the state stops them: see Ticket::iterations.
  /// Errors: invalid_argument outside of 1 to ExecutableOptions::max_iterations.
  void set_iterations(std::uint32_t iterations);

  /// Makes a handle with memory of its own, zeros. If it has the name of an input, runs take the
  /// input from it; any other handle is a place where feeds put results.
  /// Errors: shape_mismatch and dtype_mismatch if the input is different; invalid_argument if the
  /// handle exists; out_of_memory.
  void create_handle(const Handle& handle);
  bool has_handle(std::string_view name) const;
  std::vector<Handle> handles() const;
  /// Sets the values of a handle from the next run on; of its first rows, if they are an extent.
  /// Errors: unknown_name, dtype_mismatch, size_mismatch; busy for an extent while a run is
  /// prepared.
  void bind(std::string_view handle, std::span<const float> values);
  void bind(std::string_view handle, std::span<const std::byte> bytes, DType dtype);
  /// Uses a persistent tensor of the caller's as the memory of a handle: two graphs may share one.
  /// Handles that swap refuse it. Runs refuse to feed one that is imported. By copy they also
  /// refuse one that begins at no multiple of the device's alignment of bindings.
  void bind(std::string_view handle, const Tensor& tensor);
  /// Returns what the last run left; waits for the last writer alone.
  std::vector<std::byte> read_bytes(std::string_view handle) const;
  template <OutputElement T = float>
  std::vector<T> read(std::string_view handle) const {
    const std::vector<std::byte> bytes = read_bytes(handle);
    return elements_of<T>(handle, {handle_spec(handle), bytes});
  }
  /// Puts this output into the handle in every run of any kind.
  /// Errors: unknown_name, shape_mismatch, dtype_mismatch; shape_mismatch if the handle feeds an
  /// input and only one of input and output has an extent; unsupported for i64 by copy, and where
  /// the state may stop a run and the output has an extent or the handle would swap;
  /// invalid_argument if the handle or the output has a feed already, and for in_place if the pass
  /// does not write the handle.
  void feed(std::string_view handle, std::string_view output, const FeedOptions& options = {});

  /// Makes a graph that shares params, plans and pipelines. It has an arena, slots, a state at its
  /// initial values and handles of zeros of its own. Feeds and the active extent are the same.
  ExecutableGraph fork() const;

  /// Sets or returns the experts that have cells before the next run, of one layer or of each.
  /// There is a flag per expert, at most as many set as there are cells. Misses and refreshes may
  /// change them.
  /// Errors: size_mismatch for a different number of flags; invalid_argument for more set flags
  /// than cells.
  void set_resident_experts(std::string_view layer, const std::vector<bool>& resident);
  void set_resident_experts(const std::vector<bool>& resident);
  std::vector<bool> resident_experts(std::string_view layer) const;
  /// Keeps what every route_top_k chose in a ring on the device, of so many runs; 0: stops.
  /// Errors: invalid_argument where nothing can be captured, see ExecutableOptions::routes;
  /// unsupported with several iterations in a run.
  void capture_routes(std::uint32_t runs);
  /// Returns what runs chose since the last call, the oldest first; waits for them.
  RouteCapture take_routes();
  /// Returns counts per layer since the graph was made, or since the last take.
  std::vector<ExpertStats> expert_stats() const;
  std::vector<ExpertStats> take_expert_stats();

 private:
  explicit ExecutableGraph(std::shared_ptr<Executable> executable);
  Executable& inner() const;
  TensorSpec handle_spec(std::string_view handle) const;
  std::shared_ptr<Executable> executable_;
};

}  // namespace reprise
