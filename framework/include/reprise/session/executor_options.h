// Options of an executor, and of the graphs it keeps by key.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "reprise/core/kernel_choice.h"
#include "reprise/core/log.h"
#include "reprise/profile.h"
#include "reprise/session/session_options.h"

namespace reprise {

/// Capacity of the cache. A graph that does not fit runs once and is discarded.
struct GraphCacheOptions {
  std::size_t max_graphs = 8;
  std::uint64_t max_bytes = std::uint64_t{1} << 30U;  // see CapturedGraph::bytes
  FinishOptions finish{.slots = 4};                   // for the graphs; `run` stays true
};

/// Memory for the transients of direct sessions. An executor keeps it between sessions.
struct ArenaOptions {
  std::uint64_t first_chunk_bytes = std::uint64_t{1} << 20U;  // minimum of later chunks, too
  /// Maximum number of idle arenas kept for later, as after a burst of sessions in flight.
  std::size_t max_idle = 8;
};

/// Copies results of matching nodes to the host in the middle of a launch, before their memory is
/// used again. Such a launch computes the same bits and takes no times; all others are as without
/// watches. Statistics are in the table tensor_stats.
struct TensorWatch {
  /// Tensor names as in the table tensors, a shell pattern: "layer.*/attn/*" (fnmatch(3)). Excludes
  /// views, memory that outlives the graph, and results that a pass fused away.
  std::string tensors = "*";
  /// Which launches of each graph are watched: the first, then every so many. One that is due while
  /// the previous one is in flight is taken later. A launch of several iterations is watched in the
  /// last one, if all ran.
  std::uint32_t every = 1;
  /// Keeps the values too (table snapshots); those of more than 64 KiB in files beside the
  /// database.
  bool contents = false;
  /// Reports the first result with a NaN or infinity: a warning in the log, and an event.
  bool not_finite = false;
  /// Reports row numbers outside of the table that get_rows or set_rows is given as a tensor: a
  /// warning in the log, and an event. Such rows touch no memory. Watches every node; `tensors` is
  /// ignored.
  bool rows_outside = false;
};

/// Maximum for one launch; also five eighths of ProfileLimits::queue_bytes (20 MiB of 32). Results
/// beyond the smaller one are left out, which is an event.
inline constexpr std::uint64_t kMaxWatchedBytes = std::uint64_t{256} << 20U;

struct ExecutorOptions {
  std::filesystem::path profile{};  // profiling database to write; empty: none
  RunInfo run{};                    // stored with it
  ProfileLimits profile_limits{};   // limits of its writer
  LogCallback log{};
  TimingMode timing = TimingMode::replay;  // for graphs that do not choose their own
  /// Precision of every session. Direct sessions and replays give the same bits in either one.
  Precision precision = Precision::exact;
  GraphCacheOptions graphs{};  // for the graphs that the executor keeps by key
  /// Puts a barrier before every step, in direct sessions and graphs; slow. Results are the same
  /// unless a barrier is missing elsewhere: this finds such places.
  bool serialize = false;
  ArenaOptions arenas{};
  std::vector<TensorWatch> watches{};  // see set_watches()
};

}  // namespace reprise
