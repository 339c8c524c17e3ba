// One run in a profiling database: turns records into rows. Statements are prepared once. Not
// thread-safe, knows nothing of batches; the caller keeps a transaction open.
#pragma once
#include <map>

#include "framework/profile/graph_rows.h"
#include "framework/profile/record_queue.h"

namespace reprise::profile {

class RunWriter {
 public:
  /// Adds the rows of the host, the build and the run; runs nobody finished become 'crashed'.
  RunWriter(Database& database, const RunInfo& run);

  /// All rows of the record or none. Throws SqliteError.
  void write(const Record& record);
  void heartbeat();
  void drop(std::string_view what, std::uint64_t count);
  void finish(std::string_view exit_state);

 private:
  void write_row(const std::shared_ptr<const DeviceInfo>& info);
  void write_row(const SessionRecord& record);
  void write_row(const BufferRecord& record);
  void write_row(const BufferFreedRecord& record);
  void write_row(const RecordingRecord& record);
  void write_row(const ReplayRecord& record);
  std::int64_t device_id();
  std::int64_t graph_id(const RecordingRecord& record);
  std::int64_t kernel_id(const KernelRow& kernel);
  void write_graph_table(std::int64_t graph, std::size_t table, std::vector<Value>& values,
                         std::span<const std::int64_t> kernels);
  /// Ids of records count from 1 in every run; those of rows go on.
  std::int64_t row_id(std::uint64_t record) const;

  Database& database_;
  std::int64_t run_ = 0, first_id_ = 0;
  std::shared_ptr<const DeviceInfo> info_ = std::make_shared<DeviceInfo>();
  std::optional<std::int64_t> device_;
  std::map<std::uint64_t, std::string> phases_;  // name of the graph by recording

  Statement add_device_, find_device_, add_session_, find_session_, link_recordings_, link_session_;
  Statement add_buffer_, free_buffer_, find_buffer_;
  Statement add_graph_, find_graph_, add_kernel_, find_kernel_;
  Statement add_recording_, add_recording_pool_, add_replay_, add_drop_, heartbeat_, finish_;
  std::vector<Statement> add_to_graph_;             // one per kGraphTables
  std::map<std::uint64_t, std::uint64_t> waiting_;  // recordings whose session is not finished yet
};

}  // namespace reprise::profile
