// GraphExecutor: opens direct and recorded sessions on one device.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "reprise/session/graph_cache.h"
#include "reprise/session/host_scope.h"
#include "reprise/session/saved_graphs.h"

namespace reprise {

/// Any number of sessions may be open, each used by one thread. Sessions and graphs keep what they
/// need of the executor; it may be destroyed before them.
class GraphExecutor {
 public:
  /// Throws io if the profiling database cannot be opened, and what set_watches() throws.
  explicit GraphExecutor(Device device, ExecutorOptions options = {});
  const Device& device() const;
  /// What chooses kernels: the device's, with the precision of this executor.
  const DeviceTraits& traits() const;

  /// Ops are encoded as they are called; finish() submits once and waits once.
  GraphSession begin(SessionOptions options = {});
  /// Ops are captured; finish() plans, encodes, runs once and hands out the graph.
  GraphSession begin_recorded(SessionOptions options = {});

  /// Records a pass: begin_recorded(), pass(session), finish(). Nothing stays open if it throws.
  FinishResult capture(const RecordFunction& pass, SessionOptions session = {},
                       const FinishOptions& finish = {});
  /// Makes the kernels of a pass ready, so that its first session creates no pipeline: records it,
  /// plans it, and runs each kernel once over nothing. The pass itself does not run, and nothing it
  /// uses is read or written.
  WarmUp prewarm(const RecordFunction& pass, SessionOptions session = {});

  /// Capture by key, for passes that are no function; GraphCache is the simpler way. A session that
  /// is destroyed before end_graph_capture(), by an exception too, is discarded.
  GraphSession begin_graph_capture(SessionOptions options = {});
  /// See GraphCache::keep.
  KeyedRun end_graph_capture(const GraphKey& key, GraphSession& session,
                             const FinishOptions& options = {});
  /// See GraphCache::replay.
  KeyedRun replay_graph(const GraphKey& key, const std::vector<NamedInput>& inputs = {},
                        const LaunchOptions& launch = {});
  /// As those of GraphCache, for the graphs this executor keeps by key.
  std::size_t reset_graph(const GraphKey& key);
  std::size_t reset_all_graphs();
  GraphLookup find_graph(const GraphKey& key) const;
  GraphCacheCounters graph_counters() const;
  /// A graph that CapturedGraph::save wrote. Every op of the file passes the checks of a session,
  /// and it is planned for this device; nothing runs. The report says whether the plan is the saved
  /// one. Throws io; unsupported for a file of another version of the format, and for ops this
  /// library does not have; invalid_argument for a damaged file, listing tensors that are missing,
  /// and for tensors or state that differ from the recorded ones.
  LoadedGraph load_graph(const std::filesystem::path& path, const LoadOptions& options = {});

  /// From the next launch on; may be called while graphs are replayed, from any thread. Node mode
  /// replays through a second encoding with timestamps, made at its first use.
  void set_timing(TimingMode mode) const;
  /// What tensors hold, from the next launch of each graph on, in place of the watches before. May
  /// be called while graphs are replayed, from any thread. Throws invalid_argument without a
  /// profiling database, and for an empty pattern or `every` 0.
  void set_watches(std::vector<TensorWatch> watches) const;
  /// A number of the program's own at this moment, for the profiling database: ("acceptance", 71.5,
  /// "%"). Does nothing without one. Any thread.
  void count(std::string_view name, double value, std::string_view unit = "1") const;
  /// Waits for everything in flight on the device, other executors' work included. Throws
  /// device_lost or timeout.
  void synchronize() const;
  /// Waits for everything in flight, then writes what the profiling database waits for. From its
  /// beginning on, open sessions, new ones and launches of graphs throw shut_down; tickets and
  /// outputs stay readable. Does the same again if called again. Throws device_lost or timeout.
  void shutdown() const;
  /// Gives back the arenas of direct sessions that nothing uses, and what Device::trim() does.
  /// Later sessions allocate again.
  void trim() const;
  /// Makes one piece of memory out of each idle arena of direct sessions that grew by several.
  void defragment() const;
  /// auto scope = executor.host_scope("tokenize");
  HostScope host_scope(std::string name) const;
  /// What the writer of the profiling database did so far; empty without one.
  std::optional<ProfileHealth> profile_health() const;
  /// For the session layer: users never see the whole type.
  const std::shared_ptr<ExecutorCore>& core() const { return core_; }

 private:
  std::shared_ptr<ExecutorCore> core_;
  GraphCache graphs_;
};

}  // namespace reprise
