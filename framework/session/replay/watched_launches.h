// WatchedLaunches: which launches of a recording bring tensors back, with the bodies that do.
// Used by the recording's thread; what a launch brought back is read by whoever completes it.
#pragma once
#include <functional>

#include "framework/profile/profile_sink.h"
#include "framework/session/executor/executor_core.h"
#include "framework/session/replay/slot.h"
#include "framework/session/replay/tensor_taps.h"
#include "reprise/session/executor_options.h"

namespace reprise {

struct WatchedLaunch {
  TensorWatch watch;
  TapList list;
  std::shared_ptr<Buffer> staging;
  Body body;
  std::uint64_t due = 0;                // the first launch that may be the next one
  std::atomic<bool> in_flight = false;  // and the staging is in use
};

/// One launch that brings tensors back; another can when it dies.
class WatchInFlight {
 public:
  WatchInFlight(std::shared_ptr<WatchedLaunch> launch, std::shared_ptr<const ExecutionPlan> plan);
  WatchInFlight(const WatchInFlight&) = delete;
  WatchInFlight& operator=(const WatchInFlight&) = delete;
  ~WatchInFlight() { launch_->in_flight.store(false, std::memory_order_release); }
  const Body& body() const { return launch_->body; }
  TapStaging taps() const { return {launch_->list.taps, launch_->staging}; }
  /// What it left, once it is complete; no tensors if not all its iterations ran.
  TensorsRecord read(const Slot& slot) const;

 private:
  std::shared_ptr<WatchedLaunch> launch_;
  std::shared_ptr<const ExecutionPlan> plan_;
};

class WatchedLaunches {
 public:
  /// Encodes a body with these taps.
  using EncodeBody = std::function<Body(const TapStaging&)>;

  /// What a launch is watched by, of several the one that waits longest; null: it is like any
  /// other. Looks first whether the watches of the executor changed. Failures are warnings about
  /// `recording`: launches go on without.
  std::unique_ptr<WatchInFlight> take(std::uint64_t sequence, ExecutorCore& core,
                                      const std::shared_ptr<const ExecutionPlan>& plan,
                                      std::uint64_t recording, const EncodeBody& encode);
  /// Bodies are encoded anew.
  void forget_bodies();

 private:
  void find(ExecutorCore& core, const ExecutionPlan& plan, std::uint64_t recording);

  std::vector<std::shared_ptr<WatchedLaunch>> launches_;
  std::uint64_t version_ = 0;  // of the executor's watches
};

}  // namespace reprise
