// ExecutorCore: what an executor, its sessions and its graphs share. Thread-safe.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "framework/session/direct_arena.h"
#include "framework/session/graph_capture.h"
#include "reprise/profile/profile_sink.h"
#include "reprise/session/graph_executor.h"

namespace reprise {

class ExecutorCore {
 public:
  ExecutorCore(Device device, ExecutorOptions options);

  const Device& device() const { return device_; }
  /// Null without a profiling database.
  ProfileSink* profile() const { return profile_.get(); }
  /// Bound where a session without state has an op that may read some.
  const Tensor& empty_state() const { return empty_state_; }
  std::uint64_t next_owner();
  /// How large the graph of the last finished session was: the next one is likely to be like it.
  /// Nothing after a very large one, which would take much memory for a small one.
  GraphSizes last_sizes();
  void set_last_sizes(const GraphSizes& sizes);

  /// The mode of the next replay: `wanted` or the executor's, as far as the device can.
  TimingMode timing_mode(std::optional<TimingMode> wanted) const;
  void set_timing_mode(TimingMode mode) { timing_mode_.store(mode, std::memory_order_relaxed); }
  /// Compares the clocks and, for node modes, measures the bias of timestamps, for the profile.
  void profile_clock();
  void profile_timestamp_bias();
  /// Sends a session's record, filled from the report, and its host scopes.
  void profile_session(SessionRecord record, const FinishReport& report, std::string outcome);
  void profile_host_scope(HostScopeRecord record);
  /// An event for an error that is thrown to the user; ids of records, 0: none.
  void profile_error(const Error& error, std::uint64_t session, std::uint64_t recording) noexcept;

  /// An arena for one direct session: the largest that nothing in flight uses; comes back when the
  /// pointer dies.
  using ArenaLoan = std::unique_ptr<DirectArena, std::function<void(DirectArena*)>>;
  static ArenaLoan borrow_arena(const std::shared_ptr<ExecutorCore>& core);
  /// The database id of a buffer, entered on first sight. Needs a profile.
  std::uint64_t profile_buffer(const std::shared_ptr<Buffer>& buffer, std::string_view kind);
  void profile_buffer_freed(const Buffer& buffer);

 private:
  Device device_;
  std::shared_ptr<ProfileSink> profile_;
  Tensor empty_state_;
  bool can_time_;
  std::atomic<TimingMode> timing_mode_;
  std::once_flag bias_measured_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<DirectArena>> idle_arenas_;
  GraphSizes last_sizes_;
  std::map<std::pair<const Buffer*, std::int64_t>, std::uint64_t> buffer_ids_;
};

}  // namespace reprise
