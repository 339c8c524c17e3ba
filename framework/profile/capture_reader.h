// Reads captures out of a profiling database: a graph as it was recorded and planned, with its
// replays in one run. As the other readers: works while the file is being written, holds nothing
// open, throws io if the file cannot be read, is not a profiling database, is damaged or has a
// newer schema. What the file says is checked: indices lie in their ranges; what does not is left
// out and named in Capture::problems. Text is returned as stored. Durations are nanoseconds.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "reprise/profile.h"
#include "reprise/sql_query.h"

namespace reprise {

/// Which capture of a database.
struct CaptureId {
  std::int64_t run = 0, graph = 0;
  bool operator==(const CaptureId&) const = default;
};

struct CaptureSummary {
  CaptureId id;
  std::string name;                   // of the graph
  std::string app, label, start_utc;  // of the run
  std::string device;
  std::string exit_state;  // of the run: "done", "running", "crashed", or why profiling stopped
  std::uint64_t nodes = 0;
  std::uint64_t replays = 0, timed_replays = 0;    // timed: with step times in the file
  std::optional<std::uint64_t> timestamp_bias_ns;  // what measuring adds to the time of a step
  /// Another run or graph under the same id differs in these: the file was replaced.
  std::string run_uuid, content_hash;
  bool operator==(const CaptureSummary&) const = default;
};

/// The latest run first, then by graph. Throws io also if graphs were recorded, but the file lacks
/// the run or the graph of each recording.
std::vector<CaptureSummary> read_captures(const std::filesystem::path& path,
                                          const std::stop_token& stop = {});

/// Resolves an optional graph id and replay id to a capture.
struct CaptureSelector {
  std::optional<std::int64_t> graph{}, replay{};
};

struct SelectedCapture {
  CaptureId capture;
  /// The replay asked for, or the last one with step times; empty if the graph has none.
  std::optional<std::int64_t> replay;
};

/// Without a graph: that of the replay, or of the last replay with step times, or the latest.
/// Throws invalid_argument if the database has no such graph or replay, or the replay is of another
/// graph.
SelectedCapture choose_capture(const std::filesystem::path& path, const CaptureSelector& wish);

/// An allocation of a run, or what it is called while it lives.
struct BufferSummary {
  std::int64_t id = 0;
  std::string name, kind;
  std::uint64_t bytes = 0;
  std::int64_t allocated_ns = 0;           // since the run began
  std::optional<std::int64_t> freed_ns{};  // the same; empty: it lived to the end
  std::optional<std::int64_t> pool{};      // of the graph asked for, if the buffer serves as one
};

/// Of the run of a capture, in the order in which they were made.
std::vector<BufferSummary> read_buffers(const std::filesystem::path& path, CaptureId id);

/// Rows of a table that were left out of what was read, or other numbers than it holds.
struct FileProblem {
  std::string table;
  std::string text;  // a sentence: how many, and why
  bool operator==(const FileProblem&) const = default;
};
/// Adds that so many rows of a table were left out, unless none were. `why` is the rest of the
/// sentence, without its full stop.
void note_left_out(std::vector<FileProblem>& problems, std::uint64_t rows, const std::string& table,
                   std::string_view why);

/// A graph and its plan. Nodes, steps, tensors and pools are numbered from 0 in recorded order;
/// every index below lies in its vector.
struct Capture {
  /// A half-open range of positions in another vector.
  struct Range {
    std::uint32_t first = 0, count = 0;
    bool operator==(const Range&) const = default;
  };
  struct Node {
    std::string op, label, scope;
    std::string family;           // of the op: see OpFamily
    std::string attributes_json;  // an object; "{}" if the file has none
    std::string source_file, source_function;
    std::uint32_t source_line = 0;  // 0: unknown
    std::uint32_t level = 0;        // the longest path of `edges` that leads to it
    std::optional<std::uint64_t> flops, read_bytes, write_bytes;
    Range operands;  // of operands
    Range steps;     // of step_order
  };
  struct Operand {
    std::string name;
    std::uint32_t tensor = 0;
    bool reads = false, writes = false;
  };
  struct Step {
    std::string kind;  // dispatch, copy, fill, host
    std::optional<std::uint32_t> node, kernel;
    std::array<std::uint32_t, 3> grid{};
    std::string grid_expression;
    std::vector<std::uint32_t> push;  // push constants, words
  };
  struct Kernel {
    std::string name, constants_json, source_path;
    std::array<std::uint32_t, 3> local_size{};
    std::uint64_t shared_bytes = 0, push_bytes = 0, subgroup_size = 0;
    std::optional<std::uint64_t> registers, spill_bytes;
  };
  struct Tensor {
    std::string name, dtype, shape_json, role;
    std::uint64_t bytes = 0, offset_bytes = 0;
    std::optional<std::uint32_t> pool, first_step, last_step;
    std::optional<std::uint32_t> alias_of;  // a tensor before this one
  };
  /// `dst` waits for `src`; src < dst.
  struct Edge {
    std::uint32_t src = 0, dst = 0, tensor = 0;
    std::string kind;  // RAW, WAR, WAW
  };
  struct Barrier {
    std::uint32_t before_step = 0;
    bool required = false, emitted = false;
    std::optional<std::uint32_t> cause_src, cause_dst;  // steps
    std::string kind, reason;                           // kind as of an edge
    std::optional<std::uint32_t> pool;
    std::uint64_t offset_bytes = 0, size_bytes = 0;
  };
  struct Pool {
    std::string kind;
    std::uint64_t bytes = 0;
  };
  /// What a pass did, or why it did not. Nodes are as they were recorded, before all passes.
  struct PassDecision {
    std::string pass, kind;  // kind: removed, order, moved, shared, fused
    std::optional<std::uint32_t> node;
    bool applied = false;
    std::string reason;
    std::optional<std::int64_t> estimate_ns;  // saved, or lost if it is negative
  };
  struct StateField {
    std::string name, type, owner, expression;
    std::uint32_t count = 1, offset_bytes = 0;
  };

  CaptureSummary summary;
  std::uint64_t arena_bytes = 0, unshared_bytes = 0, live_peak_bytes = 0;
  std::vector<Node> nodes;
  std::vector<Operand> operands;
  std::vector<Step> steps;
  std::vector<std::uint32_t> step_order;  // steps by node: see Node::steps
  std::vector<Kernel> kernels;
  std::vector<Tensor> tensors;
  std::vector<Edge> edges;  // by dst, then src
  std::vector<Barrier> barriers;
  std::vector<Pool> pools;
  std::vector<StateField> state_fields;
  std::vector<PassDecision> pass_decisions;  // by pass, in the order in which it decided
  /// Of this graph, of its times in this run, and of replays that belong to no capture.
  std::vector<FileProblem> problems;
};

/// Throws invalid_argument if the database has no such capture. Throws Cancelled once `stop` asks.
Capture read_capture(const std::filesystem::path& path, CaptureId id,
                     const std::stop_token& stop = {});

struct ReplayRow {
  std::int64_t id = 0;
  std::uint64_t sequence = 0;
  std::int64_t submit_time_ns = 0;  // CLOCK_MONOTONIC of the run
  std::optional<std::uint64_t> prepare_ns, submit_ns, wait_ns, device_ns;
  std::string phase;
  TimingMode timing_mode = TimingMode::off;
  bool warm_up = false;
  std::uint32_t status = 0;  // a ReplayStatus, in files nobody damaged
};

struct ReplayTable {
  std::vector<ReplayRow> rows;  // by id
  /// State block of row i: words [i * state_words, (i + 1) * state_words), laid out by
  /// Capture::state_fields; zeros where the file has none.
  std::size_t state_words = 0;
  std::vector<std::uint32_t> state;
  /// Numbers of these rows that are negative, too large or not whole; times among them are empty.
  std::uint64_t odd_numbers = 0;
};

/// Appends the replays of a capture that come after the last row of `table`; how many.
/// `state_words` of an empty table is set from the graph's state fields.
std::size_t read_new_replays(const std::filesystem::path& path, CaptureId id, ReplayTable& table,
                             const std::stop_token& stop = {});

struct CapturedStepTime {
  std::uint64_t start_ns = 0;  // since the start of the replay
  std::optional<std::uint64_t> duration_ns;
};

/// Calls `each` for those of `replays` (ids, ascending) whose step times the file holds, in order:
/// the position in `replays` and the times, one per step of the graph. Steps are 0 to `steps` - 1.
/// All are of one moment of the file, which is closed again when `each` is called first; until then
/// they take 8 bytes per step. Of more than `max`, as many are taken, evenly.
void read_step_times(
    const std::filesystem::path& path, std::span<const std::int64_t> replays, std::size_t steps,
    const std::function<void(std::size_t, std::span<const CapturedStepTime>)>& each,
    std::size_t max = std::numeric_limits<std::size_t>::max(), const std::stop_token& stop = {});

/// How long a node took over many replays.
struct NodeTiming {
  std::uint64_t count = 0, total_ns = 0, min_ns = 0, max_ns = 0, p50_ns = 0, p95_ns = 0;
  double mean_ns = 0, stddev_ns = 0;
  bool below_bias = false;  // half of its times or more are mostly the cost of measuring
};

/// Of one phase and timing mode, over all its replays, warm-ups left out. Nodes whose row has a
/// number that is negative, not whole or not finite have no time.
struct NodeTimingTable {
  std::string phase;
  TimingMode timing_mode = TimingMode::node;
  std::vector<std::optional<NodeTiming>> nodes;  // one per node of the graph
};

/// The table with the most replays first; none if nothing was timed per node. Of more than 64
/// tables the first 64 by phase and timing mode; the rest is left out.
std::vector<NodeTimingTable> read_node_timings(const std::filesystem::path& path, CaptureId id,
                                               const std::stop_token& stop = {});

struct HistogramBucket {
  std::uint64_t low_ns = 0, high_ns = 0;  // values in [low, high)
  std::uint64_t count = 0;
};

/// Ascending, without gaps; empty if the node was not timed in that phase and mode.
std::vector<HistogramBucket> read_node_histogram(const std::filesystem::path& path, CaptureId id,
                                                 const std::string& phase, TimingMode mode,
                                                 std::uint32_t node,
                                                 const std::stop_token& stop = {});

/// Of durations read one by one, in the buckets of read_node_histogram.
std::vector<HistogramBucket> histogram_of(std::span<const std::uint64_t> durations_ns);

/// Tells whether a database changed since it was last asked, for the price of looking at two
/// files. Opens nothing: a connection that outlives the writer's would leave its log behind. One
/// thread at a time.
class ProfileWatch {
 public:
  explicit ProfileWatch(const std::filesystem::path& path);
  /// True at the first call, after every commit, and when the file was replaced or came or went;
  /// for a moment after a commit perhaps twice, as file times are coarse. Never throws.
  bool changed();

  /// A mark of a file. It differs once the file was written or replaced, unless the change falls
  /// into the same step of file times.
  struct Stamp {
    std::uint64_t file = 0, bytes = 0;  // inode and size; 0: there is no such file
    std::int64_t time_ns = 0;           // of the last change
    bool operator==(const Stamp&) const = default;
  };
  /// Returns an empty one if there is no such file. Never throws.
  static Stamp stamp_of(const std::filesystem::path& path);

 private:
  std::array<std::filesystem::path, 2> files_;  // the database and its write-ahead log
  std::array<Stamp, 2> seen_{};
  bool settled_ = false;  // seen_ is older than the steps of file times
};

}  // namespace reprise
