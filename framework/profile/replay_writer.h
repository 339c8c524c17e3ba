// The rows of replays: the header of every one, step times as far as they are kept, and what is
// known of every node over all of them. The caller keeps a transaction open.
#pragma once
#include <map>
#include <string>

#include "framework/profile/node_stats.h"
#include "framework/profile/profile_sink.h"
#include "framework/profile/sqlite.h"
#include "framework/profile/step_times.h"
#include "framework/profile/timing_retention.h"

namespace reprise::profile {

class ReplayWriter {
 public:
  ReplayWriter(Database& database, std::uint64_t step_timing_bytes);

  /// Replays of recordings of this graph may follow; both are called by their rows.
  void add_graph(std::int64_t graph, const ExecutionPlan& plan,
                 std::shared_ptr<const DeviceInfo> device);
  /// The row of its graph, if the recording is known.
  std::optional<std::int64_t> graph_of(std::int64_t recording);
  void timestamp_bias(std::uint64_t bias_ns);
  std::optional<std::uint64_t> timestamp_bias() const { return bias_ns_; }

  struct Written {
    std::optional<std::int64_t> row{};  // empty: of no known recording, or refused
    bool timings = true;  // false: it had step times that cannot be those of its steps
  };
  Written write(const ReplayRecord& record, std::int64_t recording);
  /// Brings node_stats up to date.
  void write_stats(std::int64_t run);
  const TimingRetention& retention() const { return retention_; }

 private:
  struct Graph {
    std::int64_t row = 0;
    std::string phase;  // the graph's name
    std::size_t phase_index = 0;
    std::size_t nodes = 0;
    std::size_t steps = 0;
    /// The steps that are of a node.
    struct Part {
      std::uint32_t step = 0, node = 0;
      bool first = true;  // of its node
    };
    std::vector<Part> parts;
    std::shared_ptr<const DeviceInfo> device;  // its row says on which one it is
  };
  struct Recording {
    std::int64_t row = 0;
    const Graph* graph = nullptr;
  };
  /// Times are added to the nodes many replays at a time: what is known of a node is far from what
  /// is known of the next one in memory, and adding one time at a time would fetch all of it for
  /// each.
  struct Stats {
    std::vector<NodeStats> nodes;
    std::vector<std::uint32_t> waiting;  // nanoseconds per node of each replay, or kNoTime
    bool changed = false;
  };
  static constexpr std::uint32_t kNoTime = StepTimes::kNoDuration;
  /// The graph of a recording of this run; null if there is none.
  const Graph* find(std::int64_t recording);
  void write_row(const ReplayRecord& record, std::int64_t recording, const Graph& graph);
  void keep_times(std::int64_t replay, std::uint64_t duration_ns, const Graph& graph);
  void add_to_stats(const Graph& graph, TimingMode mode);
  void add_long_times(const Graph& graph, Stats& stats);
  void add_waiting(Stats& stats);

  Database& database_;
  Statements sql_;
  /// Programs may record without end: those replayed of late, each in the place that its row gives,
  /// and the file knows the others.
  static constexpr std::size_t kRemembered = 1024;
  std::vector<Recording> recordings_{kRemembered};
  std::map<std::int64_t, Graph> graphs_;                        // by row
  std::map<std::pair<std::int64_t, TimingMode>, Stats> stats_;  // by row of the graph
  std::map<std::string, std::size_t, std::less<>> phases_;
  TimingRetention retention_;
  std::optional<std::uint64_t> bias_ns_;

  // Reused by every replay.
  StepTimes times_;
  std::vector<std::uint64_t> times_of_nodes_;        // one after another
  Statement add_replay_, add_times_, remove_times_;  // not found by their text each time
};

}  // namespace reprise::profile
