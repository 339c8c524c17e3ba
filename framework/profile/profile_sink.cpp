#include "framework/profile/profile_sink.h"

#include "framework/profile/sqlite_writer.h"

namespace reprise {

ProfileSink::ProfileSink(std::shared_ptr<profile::Writer> writer)
    : writer_(std::move(writer)), thread_([w = writer_] { w->run(); }) {}

ProfileSink::~ProfileSink() {
  writer_->queue().stop();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // the last owner was a record; the thread keeps what it uses
  } else {
    thread_.join();
  }
}

void ProfileSink::device(const DeviceInfo& info) noexcept {
  try {
    send(std::make_shared<const DeviceInfo>(info));
  } catch (...) {  // no memory: what follows is shown under the device before
  }
}

void ProfileSink::tensors(TensorsRecord record) noexcept {
  try {
    send(std::make_shared<const TensorsRecord>(std::move(record)));
  } catch (...) {  // no memory
    writer_->queue().drop_tensors();
  }
}

std::uint64_t ProfileSink::max_tensor_bytes() const { return writer_->queue().max_tensor_bytes(); }

void ProfileSink::send(profile::Record record) noexcept {
  writer_->queue().push(std::move(record));
}

void ProfileSink::replay(const ReplayRecord& record) noexcept { writer_->ring().push(record); }

void ProfileSink::flush() {
  if (thread_.get_id() != std::this_thread::get_id()) {  // it cannot wait for itself
    writer_->queue().flush();
  }
}

ProfileHealth ProfileSink::health() const { return writer_->health(); }

std::shared_ptr<ProfileSink> open_profile(const std::filesystem::path& path, const RunInfo& run,
                                          LogCallback log, ProfileLimits limits) {
  return std::make_shared<ProfileSink>(
      std::make_shared<profile::Writer>(path, run, std::move(log), limits));
}

}  // namespace reprise
