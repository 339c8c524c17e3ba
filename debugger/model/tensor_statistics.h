// What a database holds of the values of a capture's tensors: statistics of watched launches, the
// contents that were kept, and how far results were from those of a reference.
#pragma once
#include "debugger/model/read_scheduler.h"
#include "debugger/model/tensor_values.h"
#include "framework/profile/tensor_tables.h"

namespace reprise::debugger {

/// Another capture of the file whose results were compared, and how many of them.
struct ComparedGraph {
  CaptureId capture;
  std::string name;
  std::uint64_t comparisons = 0;
};

/// A result that held a NaN or infinity and whose contents the file has, and the first such replay.
struct KeptNotFinite {
  std::int64_t node = 0, tensor = 0, replay = 0;
};

/// Of one capture. Nodes and tensors lie in it; rows of others are left out.
struct TensorStatistics {
  std::vector<TensorSums> sums;            // by tensor, of each one
  std::vector<SnapshotRow> snapshots;      // the latest, by replay
  std::vector<ComparisonRow> comparisons;  // the latest, in the order in which they were made
  std::vector<std::int64_t> not_finite_replays{};  // ids, ascending: in which a NaN or infinity was
  std::vector<KeptNotFinite> kept_not_finite{};    // by node and tensor
  std::vector<FileProblem> problems;               // why rows are not among these
  /// The one with the most comparisons, if this one has none.
  std::optional<ComparedGraph> elsewhere;

  /// Null if no watched launch looked at it.
  const TensorSums* sums_of(std::uint32_t tensor) const;
  /// The one of that replay; without a replay, the latest. Null if there is none.
  const SnapshotRow* snapshot_of(std::uint32_t tensor, std::optional<std::int64_t> replay) const;
};

TensorStatistics read_numbers(const std::filesystem::path& path, const Capture& capture,
                              const std::stop_token& stop = {});

/// Nodes of which a watched result held a NaN or infinity, one flag per node.
std::vector<bool> nodes_not_finite(const Capture& capture, const TensorStatistics& numbers);

/// What a node writes, each once.
std::vector<std::uint32_t> results_of(const Capture& capture, std::uint32_t node);

using TensorStatisticsRead = Read<CaptureKey, TensorStatistics>;

/// A tensor of a capture, whose watched replays are wanted.
struct TensorKey {
  CaptureKey capture;
  std::uint32_t tensor = 0;
  bool operator==(const TensorKey&) const = default;
};
/// In the order of the replays.
std::vector<TensorStatsRow> read_replays_of_tensor(const std::filesystem::path& path,
                                                   const TensorKey& key,
                                                   const std::stop_token& stop);

/// A row of TensorStatistics::snapshots, whose contents are wanted.
struct SnapshotKey {
  CaptureKey capture;
  SnapshotRow row;
  bool operator==(const SnapshotKey& other) const {
    return capture == other.capture && row.id == other.row.id;
  }
};
TensorValues read_contents(const std::filesystem::path& path, const SnapshotKey& key,
                           const std::stop_token& stop);
/// The first element that is a NaN or infinity, "nan at [0, 17]"; empty if all are finite.
std::string read_first_not_finite(const std::filesystem::path& path, const SnapshotKey& key,
                                  const std::stop_token& stop);

}  // namespace reprise::debugger
