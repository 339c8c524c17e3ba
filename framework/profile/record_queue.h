// The hand-over from the threads that record and replay to the writer thread. A push moves the
// record under a mutex and wakes the writer only when a batch begins or is full.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <variant>

#include "reprise/profile/profile_sink.h"

namespace reprise::profile {

struct BufferFreedRecord {
  std::uint64_t id = 0;
  std::int64_t time_ns = 0;
};
using Record = std::variant<std::shared_ptr<const DeviceInfo>, SessionRecord, BufferRecord,
                            BufferFreedRecord, RecordingRecord, ReplayRecord>;
/// "session": for the drops table.
std::string_view kind_of(const Record& record);

class RecordQueue {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kBatchTime{50};
  static constexpr std::size_t kBatchReplays = 256;
  static constexpr std::size_t kBatchBytes = std::size_t{4} << 20U;
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;  // replays above it are dropped

  void push(Record record) noexcept;
  /// Waits for a batch until `until`; `batch` is replaced, and may be empty. False once stopped and
  /// empty.
  bool take(std::vector<Record>& batch, Clock::time_point until);
  /// Wakes the writer for the last time.
  void stop();
  /// Records that found no room since the last call.
  std::uint64_t take_dropped();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Record> records_;
  Clock::time_point oldest_;
  std::size_t replays_ = 0, bytes_ = 0;
  std::uint64_t dropped_ = 0;
  bool stopping_ = false;
};

}  // namespace reprise::profile
