// GraphExecutor: opens direct and recorded sessions on one device.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "reprise/session/graph_cache.h"
#include "reprise/session/host_scope.h"

namespace reprise {

struct DeviceTraits;
struct LoadOptions;
struct LoadedGraph;

/// Lifetime: sessions and graphs keep what they need of the executor; it may be destroyed before
/// them.
/// Threads: any number of sessions may be open, each used by one thread.
class GraphExecutor {
 public:
  /// Makes an executor for a device.
  /// Errors: io if the profiling database cannot be opened; those of set_watches().
  explicit GraphExecutor(Device device, const ExecutorOptions& options = {});
  const Device& device() const;
  /// Returns what chooses kernels: the traits of the device, with the precision of this executor.
  const DeviceTraits& traits() const;

  /// Begins a direct session. Ops are encoded as they are called; finish() submits once and waits
  /// once.
  GraphSession begin(SessionOptions options = {});
  /// Begins a recorded session. Ops are captured; finish() plans, encodes, runs once and returns
  /// the graph.
  GraphSession begin_recorded(SessionOptions options = {});

  /// Records a pass: begin_recorded(), pass(session), finish(). Nothing stays open after an error.
  FinishResult capture(const RecordFunction& pass, SessionOptions session = {},
                       const FinishOptions& finish = {});
  /// Makes the kernels of a pass ready, so that its first session creates no pipeline. Records the
  /// pass, plans it as `finish` says, and runs each kernel once over no groups, bound to memory of
  /// the sizes that it will have. The pass itself does not run, and nothing it uses is read or
  /// written.
  /// Errors: those of recording it; out_of_memory, since its arena is allocated for that time.
  WarmUp prewarm(const RecordFunction& pass, SessionOptions session = {},
                 const FinishOptions& finish = {});

  /// Begins a capture by key, for passes that are no function; GraphCache is the simpler way. A
  /// session destroyed before end_graph_capture(), by an exception too, is discarded.
  GraphSession begin_graph_capture(SessionOptions options = {});
  /// Ends a capture: see GraphCache::keep.
  KeyedRun end_graph_capture(const GraphKey& key, GraphSession& session,
                             const FinishOptions& options = {});
  /// Replays by key: see GraphCache::replay.
  KeyedRun replay_graph(const GraphKey& key, const std::vector<NamedInput>& inputs = {},
                        const LaunchOptions& launch = {});
  /// Do what they do in GraphCache, for the graphs this executor keeps by key.
  std::size_t reset_graph(const GraphKey& key);
  std::size_t reset_all_graphs();
  GraphLookup find_graph(const GraphKey& key) const;
  GraphCacheCounters graph_counters() const;
  /// Loads a graph that CapturedGraph::save wrote. Every op of the file passes the checks of a
  /// session, and the graph is planned for this device; nothing runs. The report says whether the
  /// plan is the saved one.
  /// Errors: io; unsupported for a file of a different format version, and for ops this library
  /// does not have; invalid_argument for a damaged file, for missing tensors, listing them, for
  /// kernels that are neither given nor trusted, and for tensors, state or kernels that differ from
  /// the recorded ones.
  LoadedGraph load_graph(const std::filesystem::path& path);
  LoadedGraph load_graph(const std::filesystem::path& path, const LoadOptions& options);

  /// Sets how replays are timed, from the next launch on. Node mode replays through a second
  /// encoding with timestamps, made at its first use.
  /// Threads: may be called from any thread while graphs are replayed.
  void set_timing(TimingMode mode) const;
  /// Replaces the watches, which store values of tensors, from the next launch of each graph on.
  /// Errors: invalid_argument without a profiling database, and for an empty pattern or `every` 0.
  /// Threads: may be called from any thread while graphs are replayed.
  void set_watches(std::vector<TensorWatch> watches) const;
  /// Stores a number of the program in the profiling database: ("acceptance", 71.5, "%"). Does
  /// nothing without one.
  /// Threads: may be called from any thread.
  void count(std::string_view name, double value, std::string_view unit = "1") const;
  /// Waits for everything in flight on the device, other executors' work included.
  /// Errors: device_lost, timeout.
  void synchronize() const;
  /// Waits for everything in flight, then writes pending rows of the profiling database. Tickets
  /// and outputs stay readable. Does the same again if called again.
  /// Errors: device_lost, timeout; from its beginning on, shut_down from open sessions, new ones
  /// and launches of graphs.
  void shutdown() const;
  /// Frees the arenas of direct sessions that nothing uses, and does what Device::trim() does.
  /// Later sessions allocate again.
  void trim() const;
  /// Makes one piece of memory out of each idle arena of direct sessions that grew by several.
  void defragment() const;
  /// Begins a stretch of host time: auto scope = executor.host_scope("tokenize");
  HostScope host_scope(std::string name) const;
  /// Returns what the writer of the profiling database did so far; empty without one.
  std::optional<ProfileHealth> profile_health() const;
  /// For the session layer only; the type is incomplete for users.
  const std::shared_ptr<ExecutorCore>& core() const { return core_; }

 private:
  std::shared_ptr<ExecutorCore> core_;
  GraphCache graphs_;
};

}  // namespace reprise
