// ReplayReporter: what a recording tells the profiling database. Nothing without one.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "framework/session/replay/memory.h"
#include "framework/session/replay/slot.h"
#include "framework/session/replay/watched_launches.h"
#include "reprise/session/finish_report.h"

namespace reprise {

/// Of a recording what its plan and the backend say: the plan, the kernels that the backend knows
/// something about, and by step whether a call runs the reference of its op.
RecordingRecord record_of(std::shared_ptr<const ExecutionPlan> plan, const Backend& backend);

/// Threads: the recording's; completed(), failed() and error(): any.
class ReplayReporter {
 public:
  ReplayReporter(ExecutorCore& core, std::shared_ptr<const ExecutionPlan> plan, std::size_t slots);

  /// 0: the recording is not in the database.
  std::uint64_t id() const { return id_; }
  /// For events: they may come before it is entered. 0: there is no database.
  std::uint64_t event_id() const { return id_ != 0 ? id_.load() : first_id_; }
  /// Enters the recording, and a launch that was complete before.
  void enter(std::uint64_t session, const FinishReport& report, const Memory& memory,
             std::string key_json);
  /// Enters a direct session: a recording with one replay. `pools`: its buffers; null: several.
  void enter_direct(std::uint64_t session, const FinishReport& report,
                    std::span<const std::shared_ptr<Buffer>> pools);
  /// A rebind made another recording of it.
  void enter_again(const FinishReport& report, const Memory& memory);
  /// It is kept no longer: where it was `evicted`, or is `stale`, why.
  void ended(std::string_view evicted, std::string_view stale) const;
  /// The slot is submitted. `watched`: what it brings back; null: nothing.
  void launched(const Slot& slot, std::unique_ptr<WatchInFlight> watched);
  void completed(const Slot& slot) noexcept;
  /// A direct session is complete. `ticks`: see ReplayRecord, taken in a node mode; empty: none.
  void completed_direct(const Slot& slot, TimingMode mode,
                        std::span<const std::uint64_t> ticks) noexcept;
  void failed(const Slot& slot, const Error& error) noexcept;
  void error(const Error& error) const noexcept;

 private:
  struct InFlight {
    std::uint64_t recording = 0;  // that it was launched from
    std::unique_ptr<WatchInFlight> watched{};
  };
  void send_recording(const FinishReport& report, std::span<const std::shared_ptr<Buffer>> pools);
  void send_watched(const Slot& slot) noexcept;
  ReplayRecord record_of(const Slot& slot, std::uint32_t iteration, ReplayStatus status) const;
  void send_replay(const Slot& slot, std::uint32_t iteration, ReplayStatus status) noexcept;

  ExecutorCore& core_;
  std::shared_ptr<const ExecutionPlan> plan_;
  std::uint64_t first_id_;  // which id_ it gets first; 0: there is no database
  std::uint64_t session_ = 0;
  bool direct_ = false;
  std::string key_json_;
  std::vector<InFlight> in_flight_;   // by slot
  const Slot* unreported_ = nullptr;  // complete before the recording was entered
  std::atomic<std::uint64_t> id_{0};
};

}  // namespace reprise
