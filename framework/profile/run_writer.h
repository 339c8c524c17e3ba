// One run in a profiling database: turns records into rows. Statements are prepared once. Not
// thread-safe, knows nothing of batches; the caller keeps a transaction open.
#pragma once
#include <map>

#include "framework/profile/graph_rows.h"
#include "framework/profile/record_queue.h"
#include "framework/profile/replay_writer.h"
#include "framework/profile/tensor_writer.h"

namespace reprise::profile {

/// A row of writer_health: what happened since the one before.
struct WriterHealth {
  std::uint64_t queue_bytes = 0, queue_high_bytes = 0;  // replays that wait
  std::uint64_t commit_ns = 0, batch_replays = 0;       // the longest commit, the largest batch
  std::uint64_t log_bytes = 0;                          // of the write-ahead log
};

class RunWriter {
 public:
  /// Adds the rows of the host, the build and the run; runs nobody finished become 'crashed'.
  RunWriter(Database& database, const RunInfo& run, const ProfileLimits& limits, LogCallback log,
            DropCallback dropped);

  /// All rows of the record or none: false if the file refuses the values. Throws SqliteError.
  bool write(const Record& record);
  ReplayWriter::Written write(const ReplayRecord& record);
  /// The row of the run, node_stats and writer_health. Call it every second.
  void beat(const WriterHealth& health);
  void drop(std::string_view what, std::string_view reason, std::uint64_t count);
  /// What waits for something that will not come is dropped.
  void end_waiting() { tensors_.finish(); }
  void finish(std::string_view exit_state);
  const TimingRetention& retention() const { return replays_.retention(); }

 private:
  void write_row(const std::shared_ptr<const DeviceInfo>& info);
  void write_row(const SessionRecord& record);
  void write_row(const BufferRecord& record);
  void write_row(const BufferFreedRecord& record);
  void write_row(const RecordingRecord& record);
  void write_row(const TimestampBiasRecord& record);
  void write_row(const HostScopeRecord& record);
  void write_row(const EventRecord& record);
  void write_row(const ClockRecord& record);
  void write_row(const BenchmarkRecord& record);
  void write_row(const RecordingEndRecord& record);
  void write_row(const CacheCounterRecord& record);
  void write_row(const ExpertRecord& record);
  void write_row(const MemoryRecord& record);
  void write_row(const CounterRecord& record);
  void write_row(const std::shared_ptr<const TensorsRecord>& record);
  void write_row(const ComparisonRecord& record);
  std::int64_t add_host();
  std::int64_t add_build();
  std::int64_t device_id();
  std::int64_t graph_id(const RecordingRecord& record);
  std::int64_t kernel_id(const KernelRow& kernel);
  void link_session(std::int64_t recording, std::int64_t session);
  /// Ids of records count from 1 in every run; those of rows go on.
  std::int64_t row_id(std::uint64_t record) const;
  /// The row of the graph of a recording that was written.
  std::optional<std::int64_t> graph_of(std::uint64_t recording);

  Database& database_;
  Statements sql_;
  std::int64_t run_ = 0, first_id_ = 0;
  std::shared_ptr<const DeviceInfo> info_ = std::make_shared<DeviceInfo>();
  std::optional<std::int64_t> device_;
  ReplayWriter replays_;
  TensorWriter tensors_;

  std::multimap<std::uint64_t, std::uint64_t> waiting_;  // recordings, by sessions to finish
  struct UnlinkedEvent {
    std::int64_t row;
    std::optional<std::uint32_t> node;
  };
  std::multimap<std::uint64_t, UnlinkedEvent> unlinked_;  // by recordings that are not sent yet
};

}  // namespace reprise::profile
