// Pieces of SQL that give what the panels show, for any SQLite client.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// A literal: 'it''s'. Up to the first NUL, as no client reads further.
std::string sql_string(std::string_view text);
/// A literal for GLOB whose only special characters are * and ?.
std::string sql_glob(std::string_view pattern);
/// "3, 17, 20", for IN (...).
std::string sql_list(std::span<const std::uint32_t> numbers);
/// "c.run_id = 1 AND c.graph_id = 2", for a table or view named c.
std::string sql_capture(CaptureId id);

/// Which replays' times: those of `rows` in the range.
struct SqlTimes {
  TimingSource source;
  /// Ids of the first and the last replay; none: what node_stats sums up over all of them.
  std::optional<std::pair<std::int64_t, std::int64_t>> replays;
};

/// A table expression named node_rows, one row per node: graph_id, idx, op, label, scope, level,
/// kernel, source, barrier, bytes, flops, count, p50_ns, p95_ns, total_ns, share (0 to 1).
std::string node_rows_sql(CaptureId id, const SqlTimes& times);

/// A table expression named group_rows, one row per group of nodes: name, nodes, replays, p50_ns,
/// p95_ns, p99_ns, total_ns, share (0 to 1), of the times that a replay spends in the nodes of the
/// group, of all replays whose step times the file has unless `times` says which. `name` is an
/// expression on a row n of nodes.
std::string group_rows_sql(CaptureId id, const SqlTimes& times, std::string_view name);

}  // namespace reprise::debugger
