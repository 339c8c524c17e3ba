// What a database holds of the values of a capture's tensors: statistics of watched launches, the
// contents that were kept, and how far results were from those of a reference. Read by worker
// threads when a panel asks, and again when the file changed. One thread, the one that draws.
#pragma once
#include "debugger/model/capture_read.h"
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

class TensorStatisticsReads : public WorkerJob {
 public:
  explicit TensorStatisticsReads(const std::filesystem::path& path);

  /// Panels that show numbers call it in every frame.
  void show(const std::shared_ptr<const Capture>& capture);
  /// What show() was called with last.
  const std::shared_ptr<const Capture>& capture() const { return numbers_.capture(); }
  /// Null before they are read, and if they cannot be.
  const TensorStatistics* numbers() const { return numbers_.found(); }
  const std::string& problem() const { return numbers_.problem(); }
  /// Another number whenever what numbers() points to is another.
  std::uint64_t revision() const { return numbers_.revision(); }

  /// The replays in which a tensor was watched, in their order.
  void show_tensor(std::optional<std::uint32_t> tensor);
  const std::vector<TensorStatsRow>& replays_of_tensor() const;
  /// Another number whenever they are others.
  std::uint64_t tensor_revision() const { return tensor_revision_; }
  const std::string& tensor_problem() const { return tensor_.error(); }

  /// The contents of a row of numbers()->snapshots.
  void show_snapshot(const SnapshotRow* snapshot);
  /// Null before they are read, and if they cannot be.
  const TensorValues* contents() const { return contents_.result(); }
  const std::string& contents_problem() const { return contents_.error(); }
  std::uint64_t contents_revision() const { return contents_.finished(); }

  /// Looks for the first element of a row of numbers()->snapshots that is a NaN or infinity.
  void look_into(const SnapshotRow* snapshot);
  /// "nan at [0, 17]", empty if all are finite; null before it is found, and if the contents cannot
  /// be read.
  const std::string* first_not_finite() const { return first_not_finite_.result(); }
  const std::string& first_not_finite_problem() const { return first_not_finite_.error(); }

  /// True if anything of the above changed.
  bool poll() override;
  bool running() const override;
  void settle() override;

 private:
  void read_tensor();

  const std::filesystem::path path_;
  std::uint64_t tensor_revision_ = 0;
  std::optional<std::uint32_t> shown_tensor_;
  std::optional<std::int64_t> shown_snapshot_, looked_into_;
  CaptureRead<TensorStatistics> numbers_;
  WorkerRead<std::vector<TensorStatsRow>> tensor_;
  WorkerRead<TensorValues> contents_;
  WorkerRead<std::string> first_not_finite_;
};

}  // namespace reprise::debugger
