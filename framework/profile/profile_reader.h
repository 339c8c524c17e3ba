// Reads what a profiling database is about, and its tables for people: nodes by the time they take,
// the nodes of a graph, and replays. Works while the file is being written and holds nothing open
// afterwards. All throw io if the file cannot be read, is not a profiling database, is damaged or
// has a newer schema, and return text as stored. Durations are nanoseconds.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

struct RunSummary {
  std::int64_t id = 0;
  std::string label, app, start_utc, hostname;
  std::string device;      // of the first recording or session; empty without one
  std::string exit_state;  // "done", "running", "crashed", or why profiling stopped
  std::uint64_t recordings = 0, replays = 0;
};

struct GraphSummary {
  std::int64_t id = 0;
  std::string name;
  std::uint64_t nodes = 0, steps = 0, barriers = 0, edges = 0;
  std::uint64_t arena_bytes = 0, naive_bytes = 0, live_peak_bytes = 0;
  std::uint64_t replays = 0;  // warm-up included, which the medians leave out
  std::optional<std::int64_t> median_device_ns, median_submit_ns;
};

struct TableSummary {
  std::string name;
  std::uint64_t rows = 0;
};

struct DatabaseInfo {
  std::filesystem::path path;
  std::int64_t schema_version = 0;
  std::uint64_t bytes = 0;  // with the write-ahead log
  std::vector<RunSummary> runs;
  std::vector<GraphSummary> graphs;
  std::vector<TableSummary> tables;  // by name
};

/// Escape its text before it reaches a terminal.
DatabaseInfo read_profile_info(const std::filesystem::path& path);

struct NodeSummary {
  std::int64_t graph = 0, index = 0;
  std::string graph_name, op, scope;
  std::string kernels;  // of its steps, separated by commas
  std::string source;   // "forward.cpp:12"; empty if unknown
  std::uint64_t steps = 0;
  std::optional<std::uint64_t> flops, bytes;  // bytes read and written; empty if the op has no cost
};

/// How long a node took in the replays of one phase in one timing mode, warm-ups left out.
struct NodeTimes {
  NodeSummary node;
  std::string phase, timing_mode;
  std::uint64_t replays = 0, total_ns = 0, p50_ns = 0, p95_ns = 0, min_ns = 0, max_ns = 0;
  /// Of the time of all nodes of its graph in the same phase and mode, 0 to 1.
  double share = 0;
  /// Half of its times or more are below three times what one timestamp adds to them.
  bool below_bias = false;
};

struct TopNodes {
  std::optional<std::int64_t> run;  // the last one with node times; empty if there is none
  std::optional<std::uint64_t> timestamp_bias_ns;
  std::vector<NodeTimes> nodes;  // the slowest first
};

enum class NodeOrder : std::uint8_t { total, p50 };

struct TopNodesQuery {
  std::optional<std::int64_t> graph{};  // empty: all graphs of the run
  std::optional<std::string> phase{};   // empty: all phases
  NodeOrder order = NodeOrder::total;
  std::size_t limit = 20;
};

struct ReplaySummary {
  std::int64_t id = 0, run = 0, graph = 0;
  std::string graph_name, phase, timing_mode;
  std::uint64_t sequence = 0, submission = 0, iteration = 0, slot = 0, status = 0;
  bool warm_up = false, has_step_times = false;
  std::optional<std::uint64_t> prepare_ns, submit_ns, wait_ns, device_ns;
};

/// What a pass did to a node before the graph was planned, or why it did not.
struct PassDecisionSummary {
  std::int64_t graph = 0;
  std::string graph_name, pass, kind;  // kind: removed, order, moved, shared, fused
  std::optional<std::int64_t> node;    // its index; empty if the decision is about none
  std::string op, scope;               // of the node
  bool applied = false;
  std::string reason;
  std::optional<std::int64_t> estimate_ns;  // saved, or lost if it is negative
};

/// Throws invalid_argument if the database has no such graph, as read_nodes.
TopNodes read_top_nodes(const std::filesystem::path& path, const TopNodesQuery& query);
/// Of one graph, or of all graphs of the last run that recorded any; in order.
std::vector<NodeSummary> read_nodes(const std::filesystem::path& path,
                                    std::optional<std::int64_t> graph);
/// Of the graphs that read_nodes takes; by graph and pass, in the order in which it decided.
std::vector<PassDecisionSummary> read_pass_decisions(const std::filesystem::path& path,
                                                     std::optional<std::int64_t> graph);
/// The last `limit`, the latest first.
std::vector<ReplaySummary> read_replays(const std::filesystem::path& path, std::size_t limit);

}  // namespace reprise
