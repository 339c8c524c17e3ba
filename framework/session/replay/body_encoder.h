// BodyEncoder: encodes the steps of a plan over the memory of a recording, and keeps the bodies of
// its launches, one per timing mode.
#pragma once
#include <map>

#include "framework/session/replay/host_steps.h"
#include "framework/session/replay/memory.h"
#include "framework/session/replay/replay_reporter.h"
#include "framework/session/replay/tensor_taps.h"

namespace reprise {

/// Threads: the recording's.
class BodyEncoder {
 public:
  /// All of them outlive it. `reporter`: knows what messages of the driver are about.
  BodyEncoder(ExecutorCore& core, const ExecutionPlan& plan, const Memory& memory,
              const HostSteps& host_steps, const ReplayReporter& reporter);

  StepRange all() const { return {0, static_cast<std::uint32_t>(plan_.steps.size())}; }
  /// With `iterations` and without replay, one encoding of each. `mode`: off or a node mode.
  Body encode(StepRange range, const TapStaging& taps = {}, std::uint32_t iterations = 1,
              TimingMode mode = TimingMode::off) const;
  /// That of launches; made at first use, and anew for each launch without replay.
  const Body& body(TimingMode mode, std::uint32_t iterations);
  /// Steps behind a place where a launch stopped; kept, unless there are taps.
  Body rest(StepRange range, const TapStaging& taps);
  /// That of untimed launches over other memory.
  Body encode_over(const Memory& memory) const;
  /// After a rebind: `plain` is that of untimed launches, and nothing else is kept.
  void replace(Body plain);

 private:
  Body encode_body(StepRange range, TimingMode mode, std::span<const std::shared_ptr<Buffer>> pools,
                   std::shared_ptr<Timestamps> stamps = nullptr, TapStaging taps = {}) const;

  ExecutorCore& core_;
  const ExecutionPlan& plan_;
  const Memory& memory_;
  const HostSteps& host_steps_;
  const ReplayReporter& reporter_;
  Body plain_, timed_, serialised_;      // of the node modes, made at first use
  Body once_;                            // without replay: of the last launch
  std::map<std::uint32_t, Body> rests_;  // up to the end, by their first step
};

}  // namespace reprise
