// TensorWatch: what tensors of graphs hold while they are replayed, for the profiling database.
#pragma once
#include <cstdint>
#include <string>

namespace reprise {

/// Results of nodes that match are copied to the host in the middle of a launch, before their
/// memory is used again. Such a launch computes the same bits and takes no times; all others are as
/// without watches. Statistics are in the table tensor_stats.
struct TensorWatch {
  /// Names as the table tensors has them, a shell pattern: "layer.*/attn/*" (fnmatch(3)). Views,
  /// memory that outlives the graph, and results that a pass fused away are not among them.
  std::string tensors = "*";
  /// Of the launches of each graph: the first, then every so many. One that is due while the one
  /// before is in flight is taken later; of a launch of several iterations the last one is looked
  /// at, if all ran.
  std::uint32_t every = 1;
  /// Keep the values too (table snapshots); those of more than 64 KiB in files beside the database.
  bool contents = false;
  /// The first result with a NaN or infinity is a warning in the log, and an event.
  bool not_finite = false;
  /// Row numbers that get_rows or set_rows is given as a tensor, and that are outside of its table,
  /// are a warning in the log, and an event: they touch no memory. Looks at every node, whatever
  /// `tensors` says.
  bool rows_outside = false;
};

/// Of one launch; results that find no room are left out, which is an event.
inline constexpr std::uint64_t kMaxWatchedBytes = std::uint64_t{256} << 20U;

}  // namespace reprise
