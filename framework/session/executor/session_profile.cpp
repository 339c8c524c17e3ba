#include "framework/session/executor/session_profile.h"

#include <sstream>
#include <thread>

#include "framework/session/executor/device_clock.h"
#include "framework/session/executor/host_clock.h"

namespace reprise {
namespace {

std::string this_thread_name() {
  std::ostringstream text;
  text << std::this_thread::get_id();
  return text.str();
}

}  // namespace

SessionProfile::SessionProfile(std::shared_ptr<ProfileSink> sink, Device device)
    : sink_(std::move(sink)), device_(std::move(device)) {
  sink_->device(device_.info());
  clocks();
  memory();
}

void SessionProfile::memory() {
  {
    const auto use = device_.backend().memory().info().by_purpose;
    const std::lock_guard lock(mutex_);
    if (last_use_ == use) {
      return;
    }
    last_use_ = use;
  }
  sink_->send(MemoryRecord{device_.backend().memory_info(), now_ns()});
}

void SessionProfile::clocks() {
  clocks_ns_.store(now_ns(), std::memory_order_relaxed);
  if (const auto record = compare_clocks(device_.backend())) {
    sink_->send(*record);
  }
}

void SessionProfile::refresh_clocks() {
  constexpr std::int64_t kMaxAgeNs = 1'000'000'000;
  if (now_ns() - clocks_ns_.load(std::memory_order_relaxed) > kMaxAgeNs) {
    clocks();
  }
}

void SessionProfile::timestamp_bias() {
  std::call_once(bias_measured_, [this] {
    sink_->send(TimestampBiasRecord{measure_timestamp_bias(device_.backend())});
  });
}

void SessionProfile::host_scope(HostScopeRecord record) {
  record.id = record.id == 0 ? next_id() : record.id;
  record.thread = this_thread_name();
  sink_->send(std::move(record));
}

void SessionProfile::error(const Error& error, std::uint64_t session,
                           std::uint64_t recording) noexcept {
  try {
    sink_->send(EventRecord{.severity = LogLevel::error,
                            .source = session == 0 ? "launch" : "session",
                            .code = std::string(name_of(error.code())),
                            .message = error.what(),
                            .session = session,
                            .recording = recording,
                            .time_ns = now_ns()});
  } catch (...) {  // NOLINT(bugprone-empty-catch): the user gets the error itself
  }
}

void SessionProfile::session(SessionRecord record, const FinishReport& report,
                             std::string outcome) {
  record.end_ns = now_ns();
  record.ops = report.ops;
  record.barriers = report.barriers;
  record.arena_growths = report.arena_growths;
  record.encode_ns = report.encode_ns;
  record.submit_ns = report.submit_ns;
  record.wait_ns = report.wait_ns;
  record.device_ns = report.device_ns;
  record.outcome = std::move(outcome);
  const std::uint64_t whole = next_id();
  host_scope({.id = whole,
              .name = record.name,
              .category = "session",
              .start_ns = record.begin_ns,
              .duration_ns = static_cast<std::uint64_t>(record.end_ns - record.begin_ns)});
  std::int64_t start = record.begin_ns;
  const std::pair<const char*, std::uint64_t> parts[] = {{"record", report.record_ns},
                                                         {"plan", report.plan_ns},
                                                         {"encode", report.encode_ns},
                                                         {"submit", report.submit_ns},
                                                         {"wait", report.wait_ns}};
  for (const auto& [name, duration] : parts) {
    if (duration != 0) {
      host_scope({.parent = whole,
                  .name = name,
                  .category = "session",
                  .start_ns = start,
                  .duration_ns = duration});
      start += static_cast<std::int64_t>(duration);
    }
  }
  record.thread = this_thread_name();
  sink_->send(std::move(record));
  memory();
}

std::uint64_t SessionProfile::buffer(const std::shared_ptr<Buffer>& buffer, std::string_view kind) {
  const std::lock_guard lock(mutex_);
  std::uint64_t& id = buffer_ids_[{buffer.get(), buffer->created_ns()}];
  if (id == 0) {
    id = next_id();
    sink_->send(
        BufferRecord{id, buffer->name(), std::string(kind), buffer->bytes(), buffer->created_ns()});
  }
  return id;
}

void SessionProfile::count(const char* counter, std::string_view reason, std::uint64_t by,
                           std::string key_json) {
  const std::lock_guard lock(mutex_);
  CacheCounterRecord record{counter, std::string(reason), std::move(key_json)};
  record.value = counts_[{record.counter, record.reason}] += by;
  record.time_ns = now_ns();
  sink_->send(std::move(record));
}

void SessionProfile::buffer_freed(const Buffer& buffer) {
  const std::lock_guard lock(mutex_);
  const auto it = buffer_ids_.find({&buffer, buffer.created_ns()});
  if (it != buffer_ids_.end()) {
    sink_->send(BufferFreedRecord{it->second, now_ns()});
    buffer_ids_.erase(it);
  }
}

}  // namespace reprise
