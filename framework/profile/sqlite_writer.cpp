#include "framework/profile/sqlite_writer.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace reprise::profile {
namespace {

constexpr std::chrono::milliseconds kPoll{10};  // a push wakes nobody
constexpr std::chrono::seconds kBeat{1};
constexpr std::uint64_t kCheckpointBytes = std::uint64_t{8} << 20U;
constexpr std::uint64_t kHeldUpBytes = std::uint64_t{32} << 20U;

// Of the table drops.
constexpr std::string_view kReplay = "replay", kTimings = "step_timings";
constexpr std::string_view kRingFull = "ring full", kRefused = "refused",
                           kStopped = "writer stopped";

std::uint64_t ns(RecordQueue::Clock::duration time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}

}  // namespace

Writer::Writer(const std::filesystem::path& path, const RunInfo& run, LogCallback log,
               const ProfileLimits& limits)
    : log_(std::move(log)),
      queue_(limits.queue_bytes),
      ring_(limits.ring_bytes),
      file_(path),
      next_beat_(Clock::now() + kBeat),
      checkpoint_at_bytes_(kCheckpointBytes) {
  Transaction transaction(file_.database());
  run_.emplace(file_.database(), run, limits, log_,
               [this](std::string_view what, std::string_view reason, std::uint64_t count) {
                 count_drop(what, reason, count);
               });
  transaction.commit();
  file_.keep();
}

void Writer::run() noexcept {
  for (;;) {
    const RecordQueue::Requests requests = queue_.wait(Clock::now() + kPoll);
    const Clock::time_point now = Clock::now();
    const bool beat = now >= next_beat_ || requests.flush != 0;
    bool wrote = false;
    if (batch_is_due(now) || beat || requests.stop) {
      if (beat) {
        next_beat_ = now + kBeat;
      }
      wrote = write_all(beat);
    }
    if (requests.flush != 0) {
      queue_.answer(requests.flush);
    }
    if (requests.stop && !wrote) {  // what is written may let go of more that is sent
      break;
    }
  }
  finish();
}

bool Writer::batch_is_due(Clock::time_point now) {
  const std::uint64_t ring_bytes = ring_.pending_bytes();
  const std::uint64_t bytes = ring_bytes + queue_.bytes();
  health_row_.queue_bytes = ring_bytes;
  health_row_.queue_high_bytes = std::max(health_row_.queue_high_bytes, ring_bytes);
  if (bytes == 0) {
    waiting_since_.reset();
    return false;
  }
  waiting_since_ = waiting_since_.value_or(now);
  return now - *waiting_since_ >= kBatchTime - kPoll || bytes >= kBatchBytes ||
         ring_.pending_replays() >= kBatchReplays;
}

bool Writer::write_all(bool beat) noexcept {
  waiting_since_.reset();
  // The ring first: what a replay in it refers to was sent before, and so is in the queue by now.
  const std::uint64_t ring_limit = ring_.head();
  queue_.take(records_);
  next_record_ = 0;
  const bool any = !all_taken(ring_limit);
  while (!stopped_ && (!all_taken(ring_limit) || beat)) {
    const bool wrote_beat = write_batch(ring_limit, beat);
    beat = beat && !wrote_beat;
  }
  discard(ring_limit);  // whatever a stopped writer leaves
  records_.clear();
  return any;
}

bool Writer::all_taken(std::uint64_t ring_limit) const {
  return next_record_ == records_.size() && ring_.empty(ring_limit);
}

bool Writer::write_batch(std::uint64_t ring_limit, bool beat) noexcept {
  Batch batch;
  try {
    Transaction transaction(file_.database());
    fill(batch, ring_limit);
    beat = beat && all_taken(ring_limit);
    if (beat) {
      write_heartbeat(batch.refused);
    }
    const Clock::time_point begin = Clock::now();
    transaction.commit();
    health_row_.commit_ns = std::max(health_row_.commit_ns, ns(Clock::now() - begin));
    health_row_.batch_replays = std::max(health_row_.batch_replays, batch.replays);
    settle(std::exchange(batch, {}), beat);
    watch_log();
  } catch (const std::exception& error) {
    stop_writing(error.what());
    // Rolled back, all of them. What threw was not taken yet.
    next_record_ -= batch.records;
    count_drop(kReplay, kStopped, batch.replays);
    count_drop(kTimings, kStopped, batch.timings);
  }
  return beat;
}

void Writer::settle(const Batch& batch, bool beat) {
  committed_ += batch.replays;
  if (beat) {
    drops_.clear();
  }
  for (const auto& [what, count] : batch.refused) {
    lost_records_ += count;
    add_drop(what.first, what.second, beat ? 0 : count);
  }
}

void Writer::fill(Batch& batch, std::uint64_t ring_limit) {
  while (next_record_ < records_.size() && batch.bytes < kBatchBytes) {
    const Record& record = records_[next_record_];
    if (!run_->write(record)) {
      ++batch.refused[{std::string(kind_of(record)), std::string(kRefused)}];
    }
    batch.bytes += bytes_of(record);
    ++batch.records;
    ++next_record_;
  }
  while (next_record_ == records_.size() && batch.replays < kBatchReplays &&
         batch.bytes < kBatchBytes &&
         ring_.take(ring_limit, [&](const ReplayRecord& r) { write_replay(r, batch); })) {
  }
  if (run_->retention().halvings() != halvings_) {
    halvings_ = run_->retention().halvings();
    write_event(LogLevel::info, "timings_thinned",
                "The step times of fewer replays are kept, to stay within the budget: " +
                    std::to_string(TimingRetention::kLast >> halvings_) + " of the last, " +
                    std::to_string(TimingRetention::kSlowest >> halvings_) +
                    " of the slowest of each phase.");
  }
}

void Writer::write_replay(const ReplayRecord& record, Batch& batch) {
  const ReplayWriter::Written written = run_->write(record);
  batch.bytes += sizeof record + record.state.size_bytes() + record.step_ticks.size_bytes();
  if (written.row) {
    ++batch.replays;
  } else {
    count_drop(kReplay, kRefused);
  }
  if (!record.step_ticks.empty()) {
    if (written.timings) {
      ++batch.timings;
    } else {
      count_drop(kTimings, kRefused);
    }
  }
}

void Writer::discard(std::uint64_t ring_limit) noexcept {
  for (; next_record_ < records_.size(); ++next_record_) {
    count_drop(kind_of(records_[next_record_]), kStopped);
  }
  while (ring_.take(ring_limit, [&](const ReplayRecord& record) {
    count_drop(kReplay, kStopped);
    count_drop(kTimings, kStopped, record.step_ticks.empty() ? 0 : 1);
  })) {
  }
}

void Writer::write_heartbeat(const Drops& refused) {
  health_row_.log_bytes = file_.database().log_bytes();
  run_->beat(health_row_);
  health_row_ = {};
  const bool dropped = write_drops(refused);
  if (dropped && !dropping_) {
    write_event(LogLevel::warning, "drops_begin",
                "Records are lost; the table drops counts them and says why.");
  }
  dropping_ = dropped;
}

bool Writer::write_drops(const Drops& refused) {
  const auto since = [](std::uint64_t total, std::uint64_t& before) {
    return total - std::exchange(before, total);
  };
  add_drop(kReplay, kRingFull, since(ring_.replays_dropped(), ring_replays_));
  add_drop(kTimings, kRingFull, since(ring_.timings_dropped(), ring_timings_));
  const RecordQueue::Counts dropped = queue_.dropped();
  for (std::size_t kind = 0; kind < dropped.size(); ++kind) {
    add_drop(kind_of(kind), "queue full", since(dropped[kind], queue_records_[kind]));
  }
  for (const Drops* drops : {&std::as_const(drops_), &refused}) {
    for (const auto& [what, count] : *drops) {
      run_->drop(what.first, what.second, count);
    }
  }
  return !drops_.empty() || !refused.empty();
}

void Writer::count_drop(std::string_view what, std::string_view reason, std::uint64_t count) {
  add_drop(what, reason, count);
  (what == kReplay ? lost_replays_ : what == kTimings ? lost_timings_ : lost_records_) += count;
}

void Writer::add_drop(std::string_view what, std::string_view reason, std::uint64_t count) {
  if (count > 0) {
    drops_[{std::string(what), std::string(reason)}] += count;
  }
}

void Writer::write_event(LogLevel severity, std::string_view code, std::string message) {
  run_->write(
      EventRecord{.severity = severity,
                  .source = "profile",
                  .code = std::string(code),
                  .message = std::move(message),
                  .time_ns = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count()});
}

void Writer::watch_log() {
  const std::uint64_t bytes = file_.database().log_bytes();
  if (bytes < kCheckpointBytes) {
    checkpoint_at_bytes_ = kCheckpointBytes;
    log_held_up_ = false;
  }
  if (bytes < checkpoint_at_bytes_) {
    return;
  }
  const bool all_moved = file_.database().checkpoint();
  checkpoint_at_bytes_ = bytes + kCheckpointBytes;
  if (bytes >= kHeldUpBytes && !log_held_up_) {
    log_held_up_ = true;
    Transaction transaction(file_.database());
    write_event(LogLevel::warning, "wal_large",
                "The write-ahead log has (" + std::to_string(bytes) +
                    ") bytes and cannot begin again: a reader " +
                    (all_moved ? "never pauses." : "keeps a statement or transaction open."));
    transaction.commit();
  }
}

void Writer::stop_writing(const char* why) noexcept {
  stopped_ = true;
  try {
    stop_reason_ = why;
    if (log_) {
      log_(LogLevel::error, "Profiling stops; the program goes on. " + stop_reason_);
    }
  } catch (...) {  // a log that throws has nobody else to tell
  }
}

void Writer::finish() noexcept {
  try {
    Transaction transaction(file_.database());
    if (stopped_) {
      write_event(LogLevel::error, "writer_stopped", stop_reason_);
      write_drops({});
    } else {
      run_->end_waiting();
      write_heartbeat({});
    }
    run_->finish(stopped_ ? "profiling stopped" : "done");
    transaction.commit();
  } catch (const std::exception& error) {
    if (!stopped_) {
      stop_writing(error.what());
    }
  }
}

ProfileHealth Writer::health() const {
  const RecordQueue::Counts dropped = queue_.dropped();
  return {committed_, ring_.replays_dropped() + lost_replays_,
          ring_.timings_dropped() + lost_timings_,
          std::accumulate(dropped.begin(), dropped.end(), lost_records_.load()), stopped_};
}

}  // namespace reprise::profile
