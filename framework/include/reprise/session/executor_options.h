// What an executor can be told, with the graphs it keeps by key.
#pragma once
#include <filesystem>
#include <vector>

#include "reprise/core/log.h"
#include "reprise/profile/profile_sink.h"
#include "reprise/session/session_options.h"
#include "reprise/session/tensor_watch.h"

namespace reprise {

/// Capacity of the cache. A graph that does not fit runs once and is discarded.
struct GraphCacheOptions {
  std::size_t max_graphs = 8;
  std::uint64_t max_bytes = std::uint64_t{1} << 30U;  // see CapturedGraph::bytes
  FinishOptions finish{.slots = 4};                   // of the graphs; `run` stays true
};

/// Of the memory of direct sessions' transients. An executor keeps it between sessions.
struct ArenaOptions {
  std::uint64_t first_chunk_bytes = std::uint64_t{1}
                                    << 20U;  // it grows by chunks as large or larger
  /// Arenas kept for later: what a burst of sessions in flight leaves for the next one.
  std::size_t most_idle = 8;
};

struct ExecutorOptions {
  std::filesystem::path profile{};  // profiling database to write; empty: none
  RunInfo run{};                    // stored with it
  ProfileLimits profile_limits{};   // what its writer may use
  LogCallback log{};
  TimingMode timing = TimingMode::replay;  // of graphs that do not choose their own
  /// Of every session. Direct sessions and replays give the same bits in either one.
  Precision precision = Precision::exact;
  GraphCacheOptions graphs{};  // of the graphs that the executor keeps by key
  /// A barrier before every step, in direct sessions and graphs. Results are the same: where they
  /// are not, a barrier is missing. For finding such a place; slow.
  bool serialize = false;
  ArenaOptions arenas{};
  std::vector<TensorWatch> watches{};  // see set_watches()
};

}  // namespace reprise
