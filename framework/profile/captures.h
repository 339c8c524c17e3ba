// The captures of a database, for the readers of what belongs to one.
#pragma once
#include <array>

#include "framework/profile/capture_reader.h"
#include "framework/profile/profile_snapshot.h"

namespace reprise::profile {

inline constexpr std::array kCaptureTables{
    "runs", "hosts", "devices", "graphs", "recordings", "replays", "step_timings", "writer_health"};

/// Of rows of `table`: what was done with them, and why.
void add_problem(std::vector<FileProblem>& problems, std::uint64_t rows, const std::string& table,
                 const std::string& what);

/// What of the runs of a graph the readers leave out, and replays and recordings that no capture
/// has.
void add_problems_of_runs(Database& database, Capture& capture);

/// Ids, for messages.
std::string known_graphs(Database& database);

/// Of kCaptureTables; the latest run first, then by graph.
std::vector<CaptureSummary> captures_of(Database& database, std::optional<CaptureId> only);
/// Throws invalid_argument if the database has no such capture.
CaptureSummary require_capture(Database& database, CaptureId id);

/// Rows of step_timings that are the times of so many steps: the number follows. A larger unit
/// makes a replay of 52 days; it is nobody's, and sums of its times would overflow.
inline constexpr std::string_view kSoundStepTimes =
    "codec=1 AND unit_ns BETWEEN 1 AND 1048576 AND typeof(data)='blob' AND length(data)=8*";
/// Rows of node_stats that are times of a node, which the graph may lack.
inline constexpr std::string_view kSoundNodeTimes =
    "typeof(idx)='integer' AND idx>=0 AND timing_mode BETWEEN 0 AND 3 AND typeof(n)='integer' AND "
    "n>0 AND typeof(sum_ns)='integer' AND "
    "sum_ns>=0 AND typeof(min_ns)='integer' AND min_ns>=0 AND typeof(max_ns)='integer' AND "
    "max_ns>=0 AND typeof(p50_ns)='integer' AND p50_ns>=0 AND typeof(p95_ns)='integer' AND "
    "p95_ns>=0 AND mean_ns BETWEEN 0 AND 1e300 AND stddev_ns BETWEEN 0 AND 1e300";

/// Each is as long as the graph, however few rows the file has of it.
inline constexpr std::size_t kMaxNodeTables = 64;

/// The words that state fields say where they are: at most those of StateLayout.
inline constexpr std::uint32_t kMaxStateWords = 1024;
/// A row of state_fields with its offset and count: do they lie in a state block?
bool lies_in_state(std::int64_t offset_bytes, std::int64_t count);

}  // namespace reprise::profile
