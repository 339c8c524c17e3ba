// The writer of a profiling database: a queue, a ring for replays, and what empties both in
// batches. Errors of the file never reach the program: writing stops, the log is told once, and
// what is lost is counted.
#pragma once
#include <map>

#include "framework/profile/profile_file.h"
#include "framework/profile/replay_ring.h"
#include "framework/profile/run_writer.h"

namespace reprise::profile {

/// What the writer thread owns. Shared with the thread: a record may hold the last owner of the
/// sink itself.
class Writer {
 public:
  // A transaction takes at most these, and begins this long after the first record it takes.
  static constexpr std::chrono::milliseconds kBatchTime{50};
  static constexpr std::uint64_t kBatchReplays = 256;
  static constexpr std::uint64_t kBatchBytes = std::uint64_t{4} << 20U;

  Writer(const std::filesystem::path& path, const RunInfo& run, LogCallback log,
         const ProfileLimits& limits);
  /// The thread: returns after queue().stop(), with everything written.
  void run() noexcept;
  RecordQueue& queue() { return queue_; }
  ReplayRing& ring() { return ring_; }
  /// Any thread.
  ProfileHealth health() const;

 private:
  using Clock = RecordQueue::Clock;
  using Drops = std::map<std::pair<std::string, std::string>, std::uint64_t>;
  struct Batch {
    std::size_t records = 0;
    std::uint64_t replays = 0, timings = 0, bytes = 0;
    Drops refused;  // records; without a commit they are dropped with all others
  };
  bool batch_is_due(Clock::time_point now);
  /// Everything sent before the call, then the rows of every second. False if nothing was sent.
  bool write_all(bool beat) noexcept;
  /// One transaction. True if the rows of every second were in it.
  bool write_batch(std::uint64_t ring_limit, bool beat) noexcept;
  bool all_taken(std::uint64_t ring_limit) const;
  void fill(Batch& batch, std::uint64_t ring_limit);
  void write_replay(const ReplayRecord& record, Batch& batch);
  void discard(std::uint64_t ring_limit) noexcept;
  void write_heartbeat(const Drops& refused);
  bool write_drops(const Drops& refused);
  void settle(const Batch& batch, bool beat);
  void write_event(LogLevel severity, std::string_view code, std::string message);
  void watch_log();
  void finish() noexcept;
  void stop_writing(const char* why) noexcept;
  void count_drop(std::string_view what, std::string_view reason, std::uint64_t count = 1);
  void add_drop(std::string_view what, std::string_view reason, std::uint64_t count);

  LogCallback log_;
  RecordQueue queue_;
  ReplayRing ring_;
  ProfileFile file_;
  std::optional<RunWriter> run_;
  std::vector<Record> records_;  // taken from the queue, written up to next_record_
  std::size_t next_record_ = 0;
  std::optional<Clock::time_point> waiting_since_;
  Clock::time_point next_beat_;
  WriterHealth health_row_;
  Drops drops_;  // not in the database yet
  std::string stop_reason_;
  bool dropping_ = false, log_held_up_ = false;
  std::uint64_t checkpoint_at_bytes_;
  std::uint32_t halvings_ = 0;
  // Already in drops_.
  std::uint64_t ring_replays_ = 0, ring_timings_ = 0;
  RecordQueue::Counts queue_records_{};
  // For health().
  std::atomic<std::uint64_t> committed_{0}, lost_replays_{0}, lost_timings_{0}, lost_records_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace reprise::profile
