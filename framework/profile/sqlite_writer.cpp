#include "framework/profile/sqlite_writer.h"

namespace reprise::profile {
namespace {

constexpr std::chrono::seconds kHeartbeat{1};

}  // namespace

Writer::Writer(const std::filesystem::path& path, const RunInfo& run, LogCallback log)
    : log_(std::move(log)), file_(path), next_heartbeat_(RecordQueue::Clock::now() + kHeartbeat) {
  Transaction transaction(file_.database());
  run_.emplace(file_.database(), run);
  transaction.commit();
  file_.keep();
}

void Writer::run() noexcept {
  std::vector<Record> batch;
  while (queue_.take(batch, next_heartbeat_)) {
    write_batch(batch);
  }
  finish();
}

void Writer::write_batch(const std::vector<Record>& batch) noexcept {
  const bool beat = RecordQueue::Clock::now() >= next_heartbeat_;
  if (beat) {
    next_heartbeat_ = RecordQueue::Clock::now() + kHeartbeat;
  }
  try {
    if (stopped_) {
      for (const Record& record : batch) {
        count_drop(kind_of(record));
      }
      return;
    }
    if (batch.empty() && !beat) {
      return;
    }
    Transaction transaction(file_.database());
    for (const Record& record : batch) {
      try {
        run_->write(record);
      } catch (const SqliteError& error) {
        if (!error.refuses_values()) {
          throw;
        }
        count_drop(kind_of(record));
      }
    }
    if (beat) {
      run_->heartbeat();
      write_drops();
    }
    transaction.commit();
  } catch (const std::exception& error) {
    stop_writing(error.what());
    for (const Record& record : batch) {  // rolled back, all of them
      count_drop(kind_of(record));
    }
  }
}

void Writer::count_drop(std::string_view what, std::uint64_t count) {
  drops_.try_emplace(std::string(what)).first->second += count;
}

void Writer::stop_writing(const char* why) noexcept {
  stopped_ = true;
  try {
    if (log_) {
      log_(LogLevel::error, "Profiling stops; the program goes on. " + std::string(why));
    }
  } catch (...) {  // a log that throws has nobody else to tell
  }
}

void Writer::write_drops() {
  if (const std::uint64_t overflow = queue_.take_dropped()) {
    count_drop("queue full", overflow);
  }
  for (const auto& [what, count] : drops_) {
    run_->drop(what, count);
  }
  drops_.clear();
}

void Writer::finish() noexcept {
  try {
    Transaction transaction(file_.database());
    write_drops();
    run_->finish(stopped_ ? "profiling stopped" : "done");
    transaction.commit();
  } catch (const std::exception& error) {
    if (!stopped_) {
      stop_writing(error.what());
    }
  }
}

SqliteWriter::SqliteWriter(std::shared_ptr<Writer> writer)
    : writer_(std::move(writer)), thread_([w = writer_] { w->run(); }) {}

SqliteWriter::~SqliteWriter() {
  writer_->queue().stop();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // the last owner was a record; the thread keeps what it uses
  } else {
    thread_.join();
  }
}

void SqliteWriter::device(const DeviceInfo& info) {
  try {
    writer_->queue().push(std::make_shared<const DeviceInfo>(info));
  } catch (...) {  // no memory: what follows is shown under the device before
  }
}

}  // namespace reprise::profile

namespace reprise {

std::shared_ptr<ProfileSink> open_profile(const std::filesystem::path& path, const RunInfo& run,
                                          LogCallback log) {
  return std::make_shared<profile::SqliteWriter>(
      std::make_shared<profile::Writer>(path, run, std::move(log)));
}

}  // namespace reprise
