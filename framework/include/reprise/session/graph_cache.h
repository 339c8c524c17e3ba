// GraphCache: graphs by key. A pass is written once as a function. The first run of a key records
// it, later runs replay it, and a pass that cannot be recorded runs directly.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "reprise/session/executor_options.h"
#include "reprise/session/graph_key.h"
#include "reprise/session/graph_session.h"

namespace reprise {

class GraphExecutor;

/// How a run was executed.
enum class RunOutcome : std::uint8_t {
  none,      // nothing ran
  replayed,  // a graph that was recorded before
  recorded,  // recorded now; the run is the graph's first replay
  direct,    // encoded for this run alone
};
std::string_view name_of(RunOutcome how);

/// Why a run was not a replay.
enum class MissReason : std::uint8_t {
  none,         // it was one
  absent,       // the key is new
  evicted,      // other graphs needed the room
  reset,        // its graph was reset
  stale,        // a buffer it was recorded with was freed since
  rejected,     // its graph found no room: all others were in use, or it is too large
  failed,       // it cannot be recorded
  busy,         // tickets hold all slots of its graph: see LaunchOptions::slot_timeout
  unsupported,  // the device does not replay: its plan is encoded for every run
};
inline constexpr std::size_t kMissReasonCount = 9;
std::string_view name_of(MissReason reason);

/// One run of a key.
struct KeyedRun {
  RunOutcome how = RunOutcome::none;
  MissReason miss = MissReason::none;
  std::string text{};     // a sentence about the miss; empty without one
  Ticket ticket{};        // holds the outputs of the run
  FinishReport report{};  // of the session that recorded
  /// Returns whether it ran.
  explicit operator bool() const { return how != RunOutcome::none; }
  /// Waits, then returns an output. T: see Ticket::read.
  template <OutputElement T = float>
  std::vector<T> read(std::string_view output) const {
    return ticket.read<T>(output);
  }
};

/// State of a key in a cache.
struct GraphLookup {
  MissReason miss = MissReason::absent;  // the outcome of run() now
  std::string text{};
  std::uint64_t bytes = 0, replays = 0;  // of its graph, if it has one
  explicit operator bool() const { return miss == MissReason::none; }
};

/// Counts since the cache was made. Every run counts as a hit or a miss; so does a replay by key
/// that finds nothing. Calls that throw count as neither.
struct GraphCacheCounters {
  std::uint64_t hits = 0;
  std::array<std::uint64_t, kMissReasonCount> misses{};  // by reason
  std::uint64_t recorded = 0;                            // graphs
  std::uint64_t evicted = 0, reset = 0, stale = 0;       // graphs discarded, and why
  std::uint64_t rejected = 0;                            // graphs that were not kept
  std::uint64_t failed = 0;                              // keys whose pass cannot be recorded
  std::uint64_t storms = 0;                              // warnings about recording again and again
  std::uint64_t graphs = 0, bytes = 0;                   // kept now
  std::uint64_t missed(MissReason reason) const { return misses[static_cast<std::size_t>(reason)]; }
  std::uint64_t missed() const;
};

/// Graphs by key.
/// Lifetime: destroying it does not disturb work in flight or tickets.
/// Threads: thread-safe, for equal keys too. While one thread records a key, others that run it
/// wait; those of other keys do not.
class GraphCache {
 public:
  /// Makes a cache for graphs of that executor.
  /// Errors: invalid_argument if max_graphs is 0 or finish.run is false.
  explicit GraphCache(const GraphExecutor& executor, const GraphCacheOptions& options = {});
  GraphCache(std::shared_ptr<ExecutorCore> core, const GraphCacheOptions& options);

  /// Submits the pass of a key and returns without waiting. `session` holds the state block and the
  /// values of all inputs; a key always comes with the same state block. Several iterations need a
  /// graph.
  ///
  /// A pass that cannot be recorded or planned (unsupported, invalid_argument) runs directly. If
  /// that works, this is remembered until the key is reset. If it fails too, its error is thrown
  /// and nothing is remembered.
  /// Errors: invalid_argument for a key without an owner, for an input that is given twice, for a
  /// different state block, for several iterations where only a direct run is possible, and where a
  /// key is recorded again with a different structure, naming the first node that differs;
  /// missing_input, unknown_name, dtype_mismatch, size_mismatch for inputs; any other error of
  /// recording.
  KeyedRun run(const GraphKey& key, const RecordFunction& pass, SessionOptions session = {},
               const LaunchOptions& launch = {});
  /// Keeps the recording of a session under the key, replacing a present graph, and runs it unless
  /// told otherwise. The ticket holds the outputs of this first run.
  /// Errors: invalid_argument for a key without an owner, a session that is direct or of a
  /// different executor, and a different structure than the key had before, naming the first node
  /// that differs.
  KeyedRun keep(const GraphKey& key, GraphSession& session, const FinishOptions& options = {});
  /// Submits the graph of a key; the result is false, with the reason, if it has none. Takes values
  /// for all its inputs; state is set through its StateBlock.
  KeyedRun replay(const GraphKey& key, std::span<const NamedInput> inputs,
                  const LaunchOptions& launch = {});
  /// Looks up a key without counting it. Waits only for a recording of the key that is under way.
  GraphLookup find(const GraphKey& key) const;

  /// Discards the graph of a key, of all keys of an owner, or all graphs. Forgets failures and the
  /// known structure, too. Returns how many graphs there were.
  /// Lifetime: tickets stay readable.
  std::size_t reset(const GraphKey& key);
  std::size_t reset_all(const GraphOwner& owner);
  std::size_t reset_all();
  GraphCacheCounters counters() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace reprise
