#include "debugger/model/saved_queries.h"

namespace reprise::debugger {

std::vector<SavedQuery> saved_queries(CaptureId id) {
  const std::string graph = "graph_id = " + std::to_string(id.graph);
  const std::string capture = "run_id = " + std::to_string(id.run) + " AND " + graph;
  return {
      {"Slowest nodes",
       "SELECT node, op, scope, kernel, p50_us, p95_us, pct\nFROM v_top_nodes\nWHERE " + capture +
           "\nORDER BY total_ms DESC\nLIMIT 20"},
      {"Time by op", "SELECT op, nodes, total_ms, pct, avg_gb_per_s\nFROM v_top_ops\nWHERE " +
                         capture + "\nORDER BY total_ms DESC"},
      {"Time by kernel", "SELECT kernel, nodes, total_ms, pct\nFROM v_top_kernels\nWHERE " +
                             capture + "\nORDER BY total_ms DESC"},
      {"Time by outermost scope",
       "SELECT CASE WHEN instr(scope, '/') > 0 THEN substr(scope, 1, instr(scope, '/') - 1)\n"
       "    ELSE scope END AS outermost,\n"
       "  count(*) AS nodes, sum(total_ms) AS total_ms, round(sum(pct), 2) AS pct\n"
       "FROM v_top_nodes\nWHERE " +
           capture + "\nGROUP BY outermost\nORDER BY total_ms DESC"},
      {"Slowest replays",
       "SELECT id, seq, phase, device_us, submit_us, wait_us, status\nFROM v_replays\nWHERE " +
           capture + "\nORDER BY device_us DESC\nLIMIT 20"},
      {"Nodes of the slowest replay",
       "SELECT node, op, scope, start_ns / 1e3 AS start_us, dur_ns / 1e3 AS duration_us\n"
       "FROM v_node_timings\nWHERE replay_id = (SELECT id FROM v_replays WHERE " +
           capture +
           "\n    AND has_step_timings ORDER BY device_us DESC LIMIT 1)\nORDER BY dur_ns DESC"},
      {"Barriers and their reasons",
       "SELECT before_step, kind, size_bytes, cause_op, waiting_op, reason\nFROM v_barriers\n"
       "WHERE " +
           graph + " AND emitted\nORDER BY ordinal"},
      {"Memory plan",
       "SELECT name, dtype, shape_json, offset_bytes, end_bytes, first_use, last_use\n"
       "FROM v_memory_plan\nWHERE " +
           graph + "\nORDER BY offset_bytes, first_use"},
      {"Runs", "SELECT id, app, label, start_utc, hostname, replays, exit_state\nFROM v_runs"},
      {"Errors and warnings", "SELECT t_ns, level, source, code, message\nFROM v_errors"},
      {"Tables and views",
       "SELECT type, name, sql\nFROM sqlite_master\nWHERE type IN ('table', 'view')\n"
       "ORDER BY type DESC, name"},
  };
}

}  // namespace reprise::debugger
