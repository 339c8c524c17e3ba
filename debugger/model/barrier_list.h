// The barriers of a plan as a list: who waits for whom because of which tensors, and whether a
// barrier is where one has to be.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

enum class BarrierVerdict : std::uint8_t {
  emitted,
  missing,    // required, not emitted: a race
  redundant,  // emitted, not required
  unneeded    // neither
};
BarrierVerdict verdict_of(const Capture::Barrier& barrier);
const char* name_of(BarrierVerdict verdict);

/// Which barriers a list shows.
enum class BarrierFilter : std::uint8_t { all, raw, war, waw, missing, redundant };
inline constexpr std::size_t kBarrierFilters = 6;
const char* name_of(BarrierFilter filter);
bool shows(BarrierFilter filter, const Capture::Barrier& barrier);

struct BarrierCounts {
  std::array<std::size_t, kBarrierFilters> shown{};  // by each filter
  std::size_t required = 0, emitted = 0;
};
BarrierCounts counts_of(const std::vector<Capture::Barrier>& barriers);

/// Who waits, and for whom: nodes, where a step belongs to one.
std::optional<std::uint32_t> waiting_node(const Capture& capture, const Capture::Barrier& barrier);
std::optional<std::uint32_t> cause_node(const Capture& capture, const Capture::Barrier& barrier);

/// The tensors of the two nodes that lie in the byte range, joined by ", ": one name where one
/// reads what the other wrote, two where memory is used again. Views have the name of what they
/// look at.
std::string tensors_text(const Capture& capture, const Capture::Barrier& barrier);

/// What an emitted barrier keeps apart: the steps since the one before it, and those until the
/// next.
struct BarrierTimes {
  std::uint64_t before_ns = 0, after_ns = 0;  // by the medians of the nodes
  /// Whether the node that waits and the one it waits for are both on the critical path.
  bool critical = false;
  /// Without the barrier both could at best run beside each other.
  std::uint64_t cost_ns() const { return std::min(before_ns, after_ns); }
};
/// One per barrier; none of those that are not emitted, and none without times. A file has no gaps
/// to measure: the time of a step begins when the one before it ends.
std::vector<std::optional<BarrierTimes>> barrier_times(const Capture& capture,
                                                       const CaptureStatistics& statistics);

enum class BarrierOrder : std::uint8_t { step, kind, verdict, size, cost };

/// Positions in the barriers that the filter shows, sorted; equals as they are in the plan.
/// `times`: one per barrier, if they are known.
std::vector<std::uint32_t> barrier_rows(const Capture& capture, BarrierFilter filter,
                                        BarrierOrder order, bool descending,
                                        std::span<const std::optional<BarrierTimes>> times = {});

}  // namespace reprise::debugger
