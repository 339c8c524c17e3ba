// The tables that every profiling database of version 1 has.
#pragma once
#include <array>

namespace reprise::profile {

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

}  // namespace reprise::profile
