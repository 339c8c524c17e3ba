#include "framework/profile/record_queue.h"

#include <limits>

namespace reprise::profile {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<Record>> kKinds{
    "device",     "recording", "buffer",  "timestamp_bias", "session",       "buffer_freed",
    "host_scope", "event",     "clock",   "benchmark",      "recording_end", "cache_counter",
    "experts",    "memory",    "counter", "tensors",        "comparison"};

}  // namespace

std::string_view kind_of(std::size_t alternative) { return kKinds[alternative]; }

std::size_t bytes_of(const Record& record) {
  std::size_t bytes = sizeof(Record);
  if (const auto* recording = std::get_if<RecordingRecord>(&record)) {
    constexpr std::size_t kBytesPerGraph = 4096;
    constexpr std::size_t kBytesPerNode = 1024;
    bytes += kBytesPerGraph + recording->key_json.size();
    bytes += recording->plan ? recording->plan->graph->nodes.size() * kBytesPerNode : 0;
  } else if (const auto* session = std::get_if<SessionRecord>(&record)) {
    bytes += session->name.size() + session->outcome.size();
  } else if (const auto* buffer = std::get_if<BufferRecord>(&record)) {
    bytes += buffer->name.size() + buffer->kind.size();
  } else if (const auto* scope = std::get_if<HostScopeRecord>(&record)) {
    bytes += scope->name.size() + scope->category.size() + scope->thread.size();
  } else if (const auto* event = std::get_if<EventRecord>(&record)) {
    bytes += event->source.size() + event->code.size() + event->message.size();
  } else if (const auto* end = std::get_if<RecordingEndRecord>(&record)) {
    bytes += end->evicted_reason.size() + end->stale_reason.size();
  } else if (const auto* counter = std::get_if<CacheCounterRecord>(&record)) {
    bytes += counter->counter.size() + counter->reason.size() + counter->key_json.size();
  } else if (const auto* experts = std::get_if<ExpertRecord>(&record)) {
    bytes += experts->layer.size();
  } else if (const auto* memory = std::get_if<MemoryRecord>(&record)) {
    bytes += memory->info.heaps.size() * sizeof(HeapInfo);
  } else if (const auto* number = std::get_if<CounterRecord>(&record)) {
    bytes += number->name.size() + number->unit.size();
  } else if (const auto* tensors = std::get_if<std::shared_ptr<const TensorsRecord>>(&record)) {
    bytes += (*tensors)->bytes.size() + (*tensors)->tensors.size() * sizeof(TensorsRecord::Tensor);
  } else if (const auto* comparison = std::get_if<ComparisonRecord>(&record)) {
    bytes += comparison->name.size() + comparison->reference.size();
  } else if (const auto* benchmark = std::get_if<BenchmarkRecord>(&record)) {
    bytes += benchmark->test.size() + benchmark->model_type.size() + benchmark->peer.size() +
             benchmark->samples_ns.size() * sizeof(std::int64_t);
  }
  return bytes;
}

/// Of all that waits, when this record comes.
std::uint64_t RecordQueue::limit_of(const Record& record) const {
  if (std::holds_alternative<std::shared_ptr<const DeviceInfo>>(record) ||
      std::holds_alternative<TimestampBiasRecord>(record)) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const bool owner = std::holds_alternative<RecordingRecord>(record) ||
                     std::holds_alternative<BufferRecord>(record);
  return owner ? max_bytes_ : max_bytes_ - max_bytes_ / 4;
}

void RecordQueue::push(Record record) noexcept {
  const std::size_t bytes = bytes_of(record);
  const std::lock_guard lock(mutex_);
  const std::uint64_t limit = limit_of(record);
  std::uint64_t& dropped = dropped_[record.index()];
  if (bytes > limit || bytes_ > limit - bytes) {
    ++dropped;
    return;
  }
  try {
    records_.push_back(std::move(record));
    bytes_ += bytes;
  } catch (...) {
    ++dropped;
  }
}

RecordQueue::Requests RecordQueue::wait(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  requested_.wait_until(lock, until, [&] { return stopping_ || flushes_ != answered_flushes_; });
  return {flushes_ == answered_flushes_ ? 0 : flushes_, stopping_};
}

void RecordQueue::take(std::vector<Record>& records) {
  records.clear();  // outside the lock: the last owner of a graph may be here
  const std::lock_guard lock(mutex_);
  records.swap(records_);
  bytes_ = 0;
}

std::size_t RecordQueue::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void RecordQueue::drop_tensors() {
  const std::lock_guard lock(mutex_);
  ++dropped_[Record(std::shared_ptr<const TensorsRecord>()).index()];
}

RecordQueue::Counts RecordQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void RecordQueue::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t own = ++flushes_;
  requested_.notify_one();
  answered_.wait(lock, [&] { return answered_flushes_ >= own; });
}

void RecordQueue::answer(std::uint64_t flush) {
  {
    const std::lock_guard lock(mutex_);
    answered_flushes_ = flush;
  }
  answered_.notify_all();
}

void RecordQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  requested_.notify_one();
}

}  // namespace reprise::profile
