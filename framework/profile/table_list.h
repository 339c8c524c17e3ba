// The tables of the schema, for those who treat all of them alike.
#pragma once
#include <array>

#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Every profiling database has these, also of version 1.
inline constexpr std::array kAllTables{"meta",           "hosts",          "builds",
                                       "devices",        "runs",           "clock_sync",
                                       "graphs",         "kernels",        "nodes",
                                       "steps",          "tensors",        "node_tensors",
                                       "edges",          "barriers",       "pools",
                                       "state_fields",   "pass_decisions", "sessions",
                                       "recordings",     "buffers",        "recording_pools",
                                       "memory_samples", "cache_counters", "replays",
                                       "step_timings",   "node_stats",     "scopes",
                                       "counters",       "counter_values", "tensor_stats",
                                       "snapshots",      "comparisons",    "events",
                                       "drops",          "writer_health",  "benchmarks"};

struct TableOfSchema {
  std::string name;
  /// The column that says whose its rows are: run_id, recording_id, replay_id or graph_id. Empty:
  /// several runs may share them.
  std::string owner;
  bool has_ids = false;
};

/// Returns the tables of a database in the order in which they were created: each comes after those
/// that it refers to.
std::vector<TableOfSchema> tables_of(Database& database);

}  // namespace reprise::profile
