// The hand-over of everything but replays to the writer thread, and the requests of a flush and of
// the end. A push takes a mutex and wakes nobody: the writer looks by itself.
#pragma once
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "framework/profile/profile_sink.h"

namespace reprise::profile {

/// "session": for the drops table.
std::string_view kind_of(std::size_t alternative);
inline std::string_view kind_of(const Record& record) { return kind_of(record.index()); }
/// About what the rows of a record take.
std::size_t bytes_of(const Record& record);

class RecordQueue {
 public:
  using Clock = std::chrono::steady_clock;
  /// By the alternative of Record.
  using Counts = std::array<std::uint64_t, std::variant_size_v<Record>>;
  struct Requests {
    std::uint64_t flush = 0;  // to be answered; 0: none
    bool stop = false;
  };

  /// At most so much waits (ProfileLimits::queue_bytes). Devices are always taken: an executor
  /// sends one.
  explicit RecordQueue(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  void push(Record record) noexcept;
  /// What the values of one launch may take: less than a record may, as others wait too.
  std::uint64_t max_tensor_bytes() const { return max_bytes_ / 8 * 5; }
  /// Returns at `until`, at once if a request waits.
  Requests wait(Clock::time_point until);
  /// `records` is replaced.
  void take(std::vector<Record>& records);
  std::size_t bytes() const;
  /// Counts tensors that there was no memory for.
  void drop_tensors();
  /// Records that found no room so far.
  Counts dropped() const;

  /// Returns when the writer answered.
  void flush();
  void answer(std::uint64_t flush);
  /// Wakes the writer for the last time.
  void stop();

 private:
  std::uint64_t limit_of(const Record& record) const;

  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable requested_, answered_;
  std::vector<Record> records_;
  std::size_t bytes_ = 0;
  Counts dropped_{};
  std::uint64_t flushes_ = 0, answered_flushes_ = 0;
  bool stopping_ = false;
};

}  // namespace reprise::profile
