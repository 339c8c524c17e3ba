// ProfileSink: where sessions send what they recorded and timed. The SQLite writer is one; tests
// use others. Members may be called concurrently, return at once and never throw.
#pragma once
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "reprise/core/backend.h"
#include "reprise/graph/recorded_graph.h"

namespace reprise {

/// What the program wants stored about this run. Nothing is taken from the process by itself.
struct RunInfo {
  std::string app{};
  std::vector<std::string> arguments{};
  std::string label{}, notes{};
  std::string model_path{}, quantisation{};
};

/// Times are CLOCK_MONOTONIC nanoseconds; durations are nanoseconds. Ids come from next_id().
struct SessionRecord {
  std::uint64_t id = 0;
  bool recorded = false;
  std::string name;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t ops = 0, barriers = 0, submits = 0, arena_growths = 0;
  std::uint64_t encode_ns = 0, submit_ns = 0, wait_ns = 0;
  std::optional<std::uint64_t> device_ns;
  std::string outcome;  // "finished", "discarded", or the error
};

struct BufferRecord {
  std::uint64_t id = 0;
  std::string name, kind;
  std::uint64_t bytes = 0;
  std::int64_t allocated_ns = 0;
};

struct RecordingRecord {
  std::uint64_t id = 0, session = 0;
  std::shared_ptr<const RecordedGraph> recorded;
  std::vector<std::pair<Kernel, KernelInfo>> kernels;  // one per kernel of the plan, if known
  std::vector<std::uint64_t> pool_buffers;             // BufferRecord ids, one per pool
  std::uint64_t record_ns = 0, plan_ns = 0, encode_ns = 0;
  std::int64_t time_ns = 0;
};

struct ReplayRecord {
  std::uint64_t recording = 0;
  std::uint64_t sequence = 0, submission = 0;
  std::uint32_t slot = 0;
  std::int64_t submit_time_ns = 0;
  std::uint64_t prepare_ns = 0, submit_ns = 0, wait_ns = 0;
  std::optional<std::uint64_t> device_ns;
  bool warm_up = false;              // the run inside finish()
  std::vector<std::uint32_t> state;  // the block after this replay, words by state_fields
};

class ProfileSink {
 public:
  virtual ~ProfileSink() = default;
  /// The device of every record sent afterwards.
  virtual void device(const DeviceInfo& info) = 0;
  virtual void session(SessionRecord record) = 0;
  virtual void buffer(BufferRecord record) = 0;
  virtual void buffer_freed(std::uint64_t id, std::int64_t time_ns) = 0;
  virtual void recording(RecordingRecord record) = 0;
  virtual void replay(ReplayRecord record) = 0;

  std::uint64_t next_id() { return ids_.fetch_add(1, std::memory_order_relaxed) + 1; }

 private:
  std::atomic<std::uint64_t> ids_{0};
};

/// Opens or creates a profiling database and appends a run to it. Rows are written by one thread,
/// in batches; the destructor writes what is left. Throws io if the file cannot be written, is not
/// a profiling database, has a newer schema, or another live process writes it; a file that did not
/// exist before is not left behind then. Later write errors stop the writing and go to `log`.
std::shared_ptr<ProfileSink> open_profile(const std::filesystem::path& path, const RunInfo& run,
                                          LogCallback log = {});

}  // namespace reprise
