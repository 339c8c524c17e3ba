// SessionProfile: what the sessions and graphs of one executor tell their profiling database.
#pragma once
#include <atomic>
#include <map>
#include <mutex>

#include "framework/profile/profile_sink.h"
#include "reprise/session/device.h"
#include "reprise/session/finish_report.h"

namespace reprise {

/// Thread-safe.
class SessionProfile {
 public:
  SessionProfile(std::shared_ptr<ProfileSink> sink, Device device);
  ProfileSink& sink() { return *sink_; }
  const std::shared_ptr<ProfileSink>& shared_sink() const { return sink_; }
  std::uint64_t next_id() { return sink_->next_id(); }

  /// What the device's memory is used for now, if that changed.
  void memory();
  /// Compares the clocks of host and device.
  void clocks();
  /// The same, if that was more than a second ago.
  void refresh_clocks();
  /// Measures what a timestamp costs, once.
  void timestamp_bias();
  /// Fills the record from the report and sends it, with host scopes of the session and its parts.
  void session(SessionRecord record, const FinishReport& report, std::string outcome);
  /// Gives the record its id, unless it has one, and its thread.
  void host_scope(HostScopeRecord record);
  /// An event for an error that the user is told too; ids of records, 0: none.
  void error(const Error& error, std::uint64_t session, std::uint64_t recording) noexcept;
  /// The id of a buffer, entered on first sight.
  std::uint64_t buffer(const std::shared_ptr<Buffer>& buffer, std::string_view kind);
  void buffer_freed(const Buffer& buffer);
  /// Adds to what the graph caches of this run counted.
  void count(const char* counter, std::string_view reason, std::uint64_t by, std::string key_json);

 private:
  std::shared_ptr<ProfileSink> sink_;
  Device device_;
  std::once_flag bias_measured_;
  std::atomic<std::int64_t> clocks_ns_{0};  // when they were compared last
  std::mutex mutex_;
  std::map<std::pair<const Buffer*, std::int64_t>, std::uint64_t> buffer_ids_;  // guarded by mutex_
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts_;         // and this
  std::optional<std::array<MemoryUse, kMemoryPurposes>> last_use_;              // and this
};

}  // namespace reprise
