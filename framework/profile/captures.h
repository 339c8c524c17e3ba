// The captures of a database, for the readers of what belongs to one.
#pragma once
#include <array>
#include <map>

#include "framework/profile/profile_snapshot.h"
#include "reprise/profile/capture_reader.h"

namespace reprise::profile {

inline constexpr std::array kCaptureTables{
    "runs", "hosts", "devices", "graphs", "recordings", "replays", "step_timings", "writer_health"};

/// Of kCaptureTables; the latest run first, then by graph.
std::vector<CaptureSummary> captures_of(Database& database, std::optional<CaptureId> only);
/// Throws invalid_argument if the database has no such capture.
CaptureSummary require_capture(Database& database, CaptureId id);

/// The words that state fields say where they are: at most those of StateLayout.
inline constexpr std::uint32_t kMaxStateWords = 1024;
/// A row of state_fields with its offset and count: do they lie in a state block?
bool lies_in_state(std::int64_t offset_bytes, std::int64_t count);

}  // namespace reprise::profile
