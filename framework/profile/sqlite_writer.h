// The ProfileSink that writes a profiling database: a queue, and one thread that empties it in
// batches. Errors of the file never reach the program: writing stops, the log is told once, and
// what is lost is counted.
#pragma once
#include <map>
#include <thread>

#include "framework/profile/profile_file.h"
#include "framework/profile/run_writer.h"

namespace reprise::profile {

/// What the writer thread owns. Shared with the thread: a record may hold the last owner of the
/// sink itself.
class Writer {
 public:
  Writer(const std::filesystem::path& path, const RunInfo& run, LogCallback log);
  /// The thread: returns after queue().stop(), with everything written.
  void run() noexcept;
  RecordQueue& queue() { return queue_; }

 private:
  using Drops = std::map<std::string, std::uint64_t, std::less<>>;
  void write_batch(const std::vector<Record>& batch) noexcept;
  void write_drops();
  void finish() noexcept;
  void stop_writing(const char* why) noexcept;
  void count_drop(std::string_view what, std::uint64_t count = 1);

  LogCallback log_;
  RecordQueue queue_;
  ProfileFile file_;
  std::optional<RunWriter> run_;
  RecordQueue::Clock::time_point next_heartbeat_;
  Drops drops_;  // not in the database yet
  bool stopped_ = false;
};

class SqliteWriter final : public ProfileSink {
 public:
  explicit SqliteWriter(std::shared_ptr<Writer> writer);
  ~SqliteWriter() override;
  SqliteWriter(const SqliteWriter&) = delete;
  SqliteWriter& operator=(const SqliteWriter&) = delete;

  void device(const DeviceInfo& info) override;
  void session(SessionRecord record) override { writer_->queue().push(std::move(record)); }
  void buffer(BufferRecord record) override { writer_->queue().push(std::move(record)); }
  void buffer_freed(std::uint64_t id, std::int64_t time_ns) override {
    writer_->queue().push(BufferFreedRecord{id, time_ns});
  }
  void recording(RecordingRecord record) override { writer_->queue().push(std::move(record)); }
  void replay(ReplayRecord record) override { writer_->queue().push(std::move(record)); }

 private:
  std::shared_ptr<Writer> writer_;
  std::thread thread_;
};

}  // namespace reprise::profile
