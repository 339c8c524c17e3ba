// ProfileSink: where sessions send what they recorded and timed.
#pragma once
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "framework/profile/replay_status.h"
#include "reprise/backend/backend.h"
#include "reprise/graph/execution_plan.h"
#include "reprise/profile.h"

namespace reprise {

/// Times are CLOCK_MONOTONIC nanoseconds; durations are nanoseconds. Ids come from next_id().
struct SessionRecord {
  std::uint64_t id = 0;
  bool recorded = false;
  Precision precision = Precision::exact;
  std::string name;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t ops = 0, barriers = 0, submits = 0, arena_growths = 0;
  std::uint64_t encode_ns = 0, submit_ns = 0, wait_ns = 0;
  std::optional<std::uint64_t> device_ns{};
  std::string outcome{};  // "finished", "discarded", or the error
  std::string thread{};
};

struct BufferRecord {
  std::uint64_t id = 0;
  std::string name, kind;
  std::uint64_t bytes = 0;
  std::int64_t allocated_ns = 0;
};

struct BufferFreedRecord {
  std::uint64_t id = 0;
  std::int64_t time_ns = 0;
};

/// A plan that replays run. A direct session is one too, with one replay.
struct RecordingRecord {
  std::uint64_t id = 0, session = 0;
  std::shared_ptr<const ExecutionPlan> plan;
  std::vector<std::pair<Kernel, KernelInfo>> kernels;  // one per kernel of the plan, if known
  /// By step: a call that runs the float64 reference of its op, not a kernel of the backend. Empty:
  /// nothing is known.
  std::vector<bool> references{};
  std::vector<std::uint64_t> pool_buffers;  // BufferRecord ids, one per pool
  std::uint64_t record_ns = 0, plan_ns = 0, encode_ns = 0;
  std::int64_t time_ns = 0;
  std::string key_json{};  // what a graph cache keeps it under; empty: nothing
  /// Of a direct session. Each finds other memory and perhaps another number of rows, so its graph
  /// is known by what was called, the precision and the kernels.
  bool direct = false;
  Precision precision = Precision::exact;
};

/// A graph cache let go of a recording.
struct RecordingEndRecord {
  std::uint64_t id = 0;  // of the recording
  std::int64_t time_ns = 0;
  std::string evicted_reason{}, stale_reason{};  // one of them
};

/// A counter of the graph caches of this run: hit, miss, recorded, evicted, reset, stale, rejected,
/// failed.
struct CacheCounterRecord {
  std::string counter{}, reason{}, key_json{};  // the last two may be empty
  std::uint64_t value = 0;                      // since the run began, of this counter and reason
  std::int64_t time_ns = 0;
};

/// What the database calls the content of a recorded graph: it, its plan, its kernels and the
/// device. 32 hex digits.
std::string content_hash(const RecordingRecord& record, const DeviceInfo& device);

/// One replay that is complete. The spans are read during the call only.
struct ReplayRecord {
  std::uint64_t recording = 0;
  std::uint64_t sequence = 0, submission = 0;
  std::uint32_t iteration = 0, slot = 0;
  std::int64_t submit_time_ns = 0;
  std::uint64_t prepare_ns = 0, submit_ns = 0, wait_ns = 0;
  std::optional<std::int64_t> device_start_ns;  // on the device's own clock: see ClockRecord
  std::optional<std::uint64_t> device_ns;
  TimingMode timing_mode = TimingMode::off;
  bool warm_up = false;  // the first replay of a recording
  ReplayStatus status = ReplayStatus::ran;
  std::span<const std::uint32_t> state{};  // the block after this replay, words by state_fields
  /// Device clock in ticks, node modes only: the start of the body, then the end of every step. 0:
  /// the device gave none, and the steps on both sides of it are stored without a time.
  std::span<const std::uint64_t> step_ticks{};
};

/// One moment on three clocks. Device time in nanoseconds is ticks * timestamp_period_ns.
struct ClockRecord {
  std::int64_t host_ns = 0, realtime_ns = 0;
  std::uint64_t device_ticks = 0;
  std::uint64_t max_deviation_ns = 0;  // the device moment lies this close to the host moment
};

/// What one timestamp adds to the time it measures.
struct TimestampBiasRecord {
  std::uint64_t bias_ns = 0;
};

/// A stretch of host time somebody gave a name: a session and its parts, or the user's own.
struct HostScopeRecord {
  std::uint64_t id = 0, parent = 0;  // parent 0: none
  std::string name{}, category{}, thread{};
  std::int64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
};

struct EventRecord {
  LogLevel severity = LogLevel::info;
  std::string source, code, message;         // "profile", "writer_stopped", a sentence
  std::uint64_t session = 0, recording = 0;  // record ids, may be sent later; 0: none
  std::int64_t time_ns = 0;
  std::optional<std::uint32_t> node{};  // of the recording's graph
};

/// The memory of the device at one moment.
struct MemoryRecord {
  MemoryInfo info;
  std::int64_t time_ns = 0;
};

/// A number of the program's own: "draft tokens accepted" in "1", "acceptance" in "%".
struct CounterRecord {
  std::string name{}, unit{};
  double value = 0;
  std::int64_t time_ns = 0;
};

/// What results of nodes held in one replay. Sent before the ReplayRecord it belongs to.
struct TensorsRecord {
  struct Tensor {
    std::uint32_t tensor = 0, node = 0;  // rows of the graph; the node that computed it
    TensorSpec spec{};                   // contiguous, of fixed shape
    std::uint64_t offset = 0;            // in `bytes`
    /// Of row numbers that the node was given: how many rows there are. Empty: it is a result.
    std::optional<std::int64_t> rows{};
  };
  std::uint64_t recording = 0, sequence = 0;
  std::uint32_t iteration = 0;
  std::shared_ptr<const ExecutionPlan> plan{};
  std::vector<Tensor> tensors{};  // in the order in which they were computed
  std::vector<std::byte> bytes{};
  bool contents = false;    // to be kept; otherwise statistics alone
  bool not_finite = false;  // the first result with a NaN or infinity is an event
  std::int64_t time_ns = 0;
};

/// How far the values of a tensor are from those of a reference.
struct ComparisonRecord {
  std::uint64_t recording = 0;
  std::optional<std::uint32_t> node{}, tensor{};  // rows of its graph
  std::string name{}, reference{};                // "output 'logits'" against "direct", or a device
  double max_abs = 0, max_rel = 0, rmse = 0, cosine = 1;
  std::optional<std::uint64_t> first_bad{};  // element
  std::optional<bool> input_differs{};       // what its node reads differs already
  double tolerance = 0;
  bool pass = true;
  std::int64_t time_ns = 0;
};

/// One measurement of a benchmark. `peer` is the other implementation it was made of; empty: this
/// one. `test_time` is UTC, ISO 8601. Rates are tokens per second.
struct BenchmarkRecord {
  std::string test{}, model_type{}, precision{}, peer{}, test_time{};
  std::uint32_t n_prompt = 0, n_gen = 0, n_depth = 0, n_batch = 0, n_threads = 0;
  std::uint64_t model_size_bytes = 0, model_n_params = 0;
  std::vector<std::int64_t> samples_ns{};  // one per repetition
  double avg_ns = 0, stddev_ns = 0, avg_ts = 0, stddev_ts = 0, median_ts = 0;
};

/// What became of the experts that a run routed to in one layer; see ExpertStats.
struct ExpertRecord {
  std::uint64_t recording = 0;
  std::uint64_t run = 0;  // of the graph
  std::string layer{};
  std::uint64_t tokens_device = 0, tokens_host = 0, calls_device = 0, calls_host = 0;
  std::uint64_t hits = 0, misses = 0, promotions = 0, demotions = 0, bytes_moved = 0, stall_ns = 0;
  std::int64_t time_ns = 0;
};

namespace profile {

class Writer;
/// What is sent, but for replays.
using Record = std::variant<std::shared_ptr<const DeviceInfo>, RecordingRecord, BufferRecord,
                            TimestampBiasRecord, SessionRecord, BufferFreedRecord, HostScopeRecord,
                            EventRecord, ClockRecord, BenchmarkRecord, RecordingEndRecord,
                            CacheCounterRecord, ExpertRecord, MemoryRecord, CounterRecord,
                            std::shared_ptr<const TensorsRecord>, ComparisonRecord>;

}  // namespace profile

/// A run in a profiling database. Records are written in batches, by a thread of the sink: errors
/// of the file never reach the program.
/// Lifetime: the destructor writes what is left.
/// Threads: members may be called concurrently; all but flush() return at once.
class ProfileSink {
 public:
  explicit ProfileSink(std::shared_ptr<profile::Writer> writer);
  ProfileSink(const ProfileSink&) = delete;
  ProfileSink& operator=(const ProfileSink&) = delete;
  ~ProfileSink();

  /// The device of every record sent afterwards.
  void device(const DeviceInfo& info) noexcept;
  void tensors(TensorsRecord record) noexcept;
  /// Larger `bytes` of a TensorsRecord find no room.
  std::uint64_t max_tensor_bytes() const;
  void send(profile::Record record) noexcept;
  /// The hot path: no allocation, no lock, no system call. Without room the step times are dropped
  /// first, then the replay; both are counted.
  void replay(const ReplayRecord& record) noexcept;
  /// Returns when everything sent before is committed, or writing stopped.
  void flush();
  ProfileHealth health() const;

  std::uint64_t next_id() { return ids_.fetch_add(1, std::memory_order_relaxed) + 1; }

 private:
  std::shared_ptr<profile::Writer> writer_;
  std::thread thread_;
  std::atomic<std::uint64_t> ids_{0};
};

/// Opens or creates a profiling database and appends a run to it. Rows are written by one thread,
/// in batches; the destructor writes what is left. Throws io if the file cannot be written, is not
/// a profiling database, has a newer schema, or another live process writes it; a file that did not
/// exist before is not left behind then. Later write errors stop the writing and go to `log`.
std::shared_ptr<ProfileSink> open_profile(const std::filesystem::path& path, const RunInfo& run,
                                          LogCallback log = {}, ProfileLimits limits = {});

}  // namespace reprise
