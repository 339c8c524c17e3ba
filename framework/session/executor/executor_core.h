// ExecutorCore: what an executor, its sessions and its graphs share. Thread-safe.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "framework/session/device/direct_arena.h"
#include "framework/session/executor/driver_events.h"
#include "framework/session/executor/graph_sizes.h"
#include "framework/session/executor/session_profile.h"
#include "reprise/session/executor_options.h"

namespace reprise {

class ExecutorCore {
 public:
  ExecutorCore(Device device, const ExecutorOptions& options);

  const Device& device() const { return device_; }
  /// The device's, with the precision of this executor.
  const DeviceTraits& traits() const { return traits_; }
  /// Null without a profiling database.
  SessionProfile* profile() { return profile_ ? &*profile_ : nullptr; }
  /// Bound where a session without state has an op that may read some.
  const Tensor& empty_state() const { return empty_state_; }
  std::uint64_t next_owner();
  /// Tells the log, and the profiling database as an event, about a recording if one is given.
  void warn(const char* source, const char* code, const std::string& message,
            std::uint64_t recording = 0);
  /// Null without a profiling database, or where the driver says nothing.
  DriverEvents* driver_events() { return driver_events_.get(); }
  /// How large the graph of the last finished session was: the next one is likely to be like it.
  /// Nothing after a very large one, which would take much memory for a small one.
  GraphSizes last_sizes();
  void set_last_sizes(const GraphSizes& sizes);

  /// The mode of the next replay: `wanted` or the executor's, as far as the device can.
  TimingMode timing_mode(std::optional<TimingMode> wanted) const;
  void set_timing_mode(TimingMode mode) { timing_mode_.store(mode, std::memory_order_relaxed); }

  /// See GraphExecutor::set_watches. The version is another one after every change.
  void set_watches(std::vector<TensorWatch> watches);
  std::shared_ptr<const std::vector<TensorWatch>> watches();
  std::uint64_t watch_version() const { return watch_version_.load(std::memory_order_acquire); }

  /// ExecutorOptions::serialize.
  bool serialize() const { return serialize_; }

  void shutdown();
  /// See GraphExecutor.
  void trim();
  void defragment();
  /// Throws shut_down after shutdown().
  void require_running() const;
  /// As require_running(); shutdown() waits until what this returns is gone. Held while submitting.
  std::shared_lock<std::shared_mutex> hold_running();

  /// An arena for one direct session: the largest that nothing in flight uses; comes back when the
  /// pointer dies.
  using ArenaLoan = std::unique_ptr<DirectArena, std::function<void(DirectArena*)>>;
  static ArenaLoan borrow_arena(const std::shared_ptr<ExecutorCore>& core);

 private:
  /// Those that nothing in flight uses. They are worked on without the mutex: allocating may call
  /// the user.
  std::vector<std::unique_ptr<DirectArena>> take_idle_arenas();
  void keep_arena(std::unique_ptr<DirectArena> arena);

  std::unique_ptr<DriverEvents> driver_events_;  // outlives the device, if that ends with this
  Device device_;
  LogCallback log_;
  DeviceTraits traits_;
  std::optional<SessionProfile> profile_;
  Tensor empty_state_;
  bool can_time_;
  std::atomic<TimingMode> timing_mode_;
  bool serialize_;
  ArenaOptions arenas_;
  std::atomic<bool> running_{true};
  std::shared_mutex submitting_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<DirectArena>> idle_arenas_;
  GraphSizes last_sizes_;
  std::shared_ptr<const std::vector<TensorWatch>> watches_;  // guarded by mutex_
  std::atomic<std::uint64_t> watch_version_{0};
};

}  // namespace reprise
