#include "framework/profile/record_queue.h"

namespace reprise::profile {
namespace {

/// About what the rows of a record take.
std::size_t bytes_of(const Record& record) {
  std::size_t bytes = sizeof(Record);
  if (const auto* replay = std::get_if<ReplayRecord>(&record)) {
    bytes += replay->state.size() * sizeof(std::uint32_t);
  } else if (const auto* recording = std::get_if<RecordingRecord>(&record)) {
    constexpr std::size_t kBytesPerNode = 1024;
    bytes += recording->recorded ? recording->recorded->graph.nodes.size() * kBytesPerNode : 0;
  } else if (const auto* session = std::get_if<SessionRecord>(&record)) {
    bytes += session->name.size() + session->outcome.size();
  } else if (const auto* buffer = std::get_if<BufferRecord>(&record)) {
    bytes += buffer->name.size();
  }
  return bytes;
}

}  // namespace

std::string_view kind_of(const Record& record) {
  constexpr std::array<std::string_view, 6> kKinds{"device",       "session",   "buffer",
                                                   "buffer_freed", "recording", "replay"};
  return kKinds[record.index()];
}

void RecordQueue::push(Record record) noexcept {
  const std::size_t bytes = bytes_of(record);
  const bool replay = std::holds_alternative<ReplayRecord>(record);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (replay && bytes_ + bytes > kMaxBytes) {
      ++dropped_;
      return;
    }
    try {
      records_.push_back(std::move(record));
    } catch (...) {
      ++dropped_;
      return;
    }
    const bool was_full = replays_ >= kBatchReplays || bytes_ >= kBatchBytes;
    replays_ += replay ? 1 : 0;
    bytes_ += bytes;
    const bool full = replays_ >= kBatchReplays || bytes_ >= kBatchBytes;
    const bool first = records_.size() == 1;
    if (first) {
      oldest_ = Clock::now();
    }
    wake = first || (full && !was_full);
  }
  if (wake) {
    changed_.notify_one();
  }
}

bool RecordQueue::take(std::vector<Record>& batch, Clock::time_point until) {
  batch.clear();  // outside the lock: the last owner of a graph may be here
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return stopping_ || !records_.empty(); });
  if (!records_.empty()) {
    changed_.wait_until(lock, oldest_ + kBatchTime, [&] {
      return stopping_ || replays_ >= kBatchReplays || bytes_ >= kBatchBytes;
    });
  }
  batch.swap(records_);
  replays_ = bytes_ = 0;
  return !stopping_ || !batch.empty();
}

void RecordQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
}

std::uint64_t RecordQueue::take_dropped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(dropped_, 0);
}

}  // namespace reprise::profile
