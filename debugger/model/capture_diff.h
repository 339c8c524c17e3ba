// Two captures beside each other: structure, times and numbers, node by node. The first one, which
// the second is compared with, may be of the same file or of another.
#pragma once
#include "debugger/model/number_diff.h"
#include "debugger/model/run_diff.h"

namespace reprise::debugger {

/// What ran a capture, of RunInfo and the build.
struct RunFacts {
  std::string label, start_utc, version, commit;
  bool dirty = false;  // with changes that were not committed
};

struct CaptureDiff {
  struct Side {
    CaptureOfFile capture;
    std::string graph, device;
    RunFacts run;
  };
  Side a, b;
  GraphDiff graph;
  std::vector<std::optional<NumberDiff>> numbers;  // one per node of `graph`
};

/// Throws as the readers.
CaptureDiff read_capture_diff(const CaptureOfFile& a, const CaptureOfFile& b,
                              const std::stop_token& stop = {});
/// The same, as a Read has it: of the two captures in `sides`.
CaptureDiff read_diff_of(const std::filesystem::path& path,
                         const std::pair<CaptureOfFile, CaptureOfFile>& sides,
                         const std::stop_token& stop);

/// What can be said of a row; several may hold.
enum class NodeChange : std::uint8_t { added, removed, changed, slower, faster, diverged };
inline constexpr std::size_t kNodeChanges = 6;
const char* name_of(NodeChange change);

/// Times differ by more than a twentieth and, where a rank test was possible, hardly by chance.
bool has(const CaptureDiff& diff, std::size_t row, NodeChange change);

/// `recorded`: in b, where what only a has stands behind what it stands behind in a. `difference`:
/// by its size, whichever side took longer.
enum class DiffOrder : std::uint8_t { recorded, median_a, median_b, difference, ratio, numbers };

/// Medians, from A to B; a node that one side does not have took no time there. None unless what
/// there is was timed.
std::optional<double> difference_ns(const NodeDiff& node);
/// The sum of A's medians, which differences are shares of.
std::uint64_t time_of_a_ns(const GraphDiff& diff);

/// By how much B takes longer as a whole, and what it does not explain.
struct CommonFactor {
  double factor = 1;       // the median of the ratios, weighted by the times of A
  std::size_t beyond = 0;  // nodes that differ from it by more than a twentieth, notably in all
};
/// None if no node was timed on both sides.
std::optional<CommonFactor> common_factor(const GraphDiff& diff);
/// "B is 0.72 x A throughout; beyond that 2 nodes changed".
std::string common_factor_text(const CommonFactor& common);

/// Rows of diff.graph with any of the changes; all if there are none in `wanted`. Those
/// without what they are ordered by come last.
std::vector<std::uint32_t> diff_rows(const CaptureDiff& diff, std::span<const NodeChange> wanted,
                                     DiffOrder order = DiffOrder::recorded,
                                     bool descending = false);

/// The captures of another file, as the key and the value of a Read.
struct OtherFile {
  std::filesystem::path path;
  std::vector<CaptureSummary> captures;
};
OtherFile read_other_file(const std::filesystem::path& path, const std::filesystem::path& other,
                          const std::stop_token& stop);

}  // namespace reprise::debugger
