#include "debugger/model/sql_text.h"

namespace reprise::debugger {
namespace {

std::string quantile_sql(std::string_view share) {
  return "min(CASE WHEN position >= " + std::string(share) + " * count THEN dur_ns END)";
}

/// Ids of the replays whose times count.
std::string replays_sql(CaptureId id, const SqlTimes& times) {
  const std::string ids = times.replays
                              ? " AND r.id BETWEEN " + std::to_string(times.replays->first) +
                                    " AND " + std::to_string(times.replays->second)
                              : "";
  return "SELECT r.id FROM replays r JOIN recordings c ON c.id = r.recording_id WHERE " +
         sql_capture(id) + ids + " AND coalesce(r.phase, '') = " + sql_string(times.source.phase) +
         " AND r.timing_mode = " + std::to_string(static_cast<int>(times.source.mode)) +
         " AND r.warm_up = 0 AND r.status = 0";
}

/// idx, count, p50_ns, p95_ns, total_ns of every node that has times.
std::string times_sql(CaptureId id, const SqlTimes& times) {
  const std::string phase = sql_string(times.source.phase);
  const std::string mode = std::to_string(static_cast<int>(times.source.mode));
  if (!times.replays) {
    return "SELECT idx, n AS count, p50_ns, p95_ns, sum_ns AS total_ns FROM node_stats WHERE "
           "graph_id"
           " = " +
           std::to_string(id.graph) + " AND run_id = " + std::to_string(id.run) +
           " AND phase = " + phase + " AND timing_mode = " + mode;
  }
  return "SELECT node AS idx, count, " + quantile_sql("0.5") + " AS p50_ns, " +
         quantile_sql("0.95") +
         " AS p95_ns, sum(dur_ns) AS total_ns FROM (SELECT node, dur_ns, row_number() OVER "
         "(PARTITION"
         " BY node ORDER BY dur_ns) AS position, count(*) OVER (PARTITION BY node) AS count FROM"
         " v_node_timings WHERE node IS NOT NULL AND dur_ns IS NOT NULL AND replay_id IN (" +
         replays_sql(id, times) + ")) GROUP BY node";
}

}  // namespace

std::string sql_string(std::string_view text) {
  std::string literal = "'";
  for (const char c : text.substr(0, text.find('\0'))) {
    literal += c == '\'' ? "''" : std::string(1, c);
  }
  return literal + "'";
}

std::string sql_glob(std::string_view pattern) {
  std::string escaped;
  for (const char c : pattern) {
    escaped += c == '[' ? "[[]" : std::string(1, c);
  }
  return sql_string(escaped);
}

std::string sql_list(std::span<const std::uint32_t> numbers) {
  std::string list;
  for (const std::uint32_t number : numbers) {
    list += (list.empty() ? "" : ", ") + std::to_string(number);
  }
  return list;
}

std::string sql_capture(CaptureId id) {
  return "c.run_id = " + std::to_string(id.run) + " AND c.graph_id = " + std::to_string(id.graph);
}

std::string node_rows_sql(CaptureId id, const SqlTimes& times) {
  const std::string graph = std::to_string(id.graph);
  return "(SELECT n.graph_id, n.idx, n.op, coalesce(n.label, '') AS label, coalesce(n.scope, '') AS"
         " scope, n.level,\n"
         "  (SELECT group_concat(DISTINCT k.name) FROM steps d JOIN kernels k ON k.id = d.kernel_id"
         " WHERE d.graph_id = n.graph_id AND d.node_idx = n.idx) AS kernel,\n"
         "  CASE WHEN n.src_file <> '' THEN n.src_file || ':' || coalesce(n.src_line, 0) ELSE '' "
         "END"
         " AS source,\n"
         "  EXISTS (SELECT 1 FROM barriers b JOIN steps d ON d.graph_id = b.graph_id AND d.idx ="
         " b.before_step WHERE b.graph_id = n.graph_id AND d.node_idx = n.idx AND b.emitted) AS"
         " barrier,\n"
         "  CASE WHEN n.read_bytes IS NOT NULL OR n.write_bytes IS NOT NULL THEN"
         " coalesce(n.read_bytes, 0) + coalesce(n.write_bytes, 0) END AS bytes, n.flops,\n"
         "  t.count, t.p50_ns, t.p95_ns, t.total_ns, 1.0 * t.p50_ns / sum(t.p50_ns) OVER () AS"
         " share\n"
         "FROM nodes n LEFT JOIN (" +
         times_sql(id, times) + ") t ON t.idx = n.idx\nWHERE n.graph_id = " + graph +
         ") AS node_rows";
}

std::string group_rows_sql(CaptureId id, const SqlTimes& times, std::string_view name) {
  const std::string graph = std::to_string(id.graph);
  const std::string name_sql(name);
  const std::string sums =
      "SELECT " + name_sql +
      " AS name, t.replay_id, sum(t.dur_ns) AS ns FROM v_node_timings t JOIN nodes n ON n.graph_id"
      " = t.graph_id AND n.idx = t.node WHERE t.dur_ns IS NOT NULL AND t.replay_id IN (" +
      replays_sql(id, times) + ") GROUP BY 1, 2";
  const std::string ranked =
      "SELECT name, ns, row_number() OVER (PARTITION BY name ORDER BY ns) AS position,"
      " count(*) OVER (PARTITION BY name) AS count FROM (" +
      sums + ")";
  const auto quantile = [](std::string_view share) {
    return "min(CASE WHEN position >= " + std::string(share) + " * count THEN ns END)";
  };
  return "(SELECT g.name, g.nodes, t.replays, t.p50_ns, t.p95_ns, t.p99_ns, t.total_ns,\n"
         "  1.0 * t.p50_ns / sum(t.p50_ns) OVER () AS share\n"
         "FROM (SELECT " +
         name_sql + " AS name, count(*) AS nodes FROM nodes n WHERE n.graph_id = " + graph +
         " GROUP BY 1) g\nLEFT JOIN (SELECT name, count(*) AS replays, " + quantile("0.5") +
         " AS p50_ns, " + quantile("0.95") + " AS p95_ns, " + quantile("0.99") +
         " AS p99_ns, sum(ns) AS total_ns\n  FROM (" + ranked +
         ") GROUP BY name) t ON t.name IS g.name) AS group_rows";
}

}  // namespace reprise::debugger
