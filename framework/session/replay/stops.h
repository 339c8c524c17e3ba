// Stops: the places where the device may stop an iteration, what the host does there, and how the
// launch goes on behind them.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "framework/session/replay/host_steps.h"
#include "framework/session/replay/memory.h"

namespace reprise {

/// A launch runs as if nothing stopped it, in one submission. Where it did stop, all later steps
/// ran over no groups: the host serves the place, and submits what is behind it.
/// Threads: the recording's.
class Stops {
 public:
  /// `memory` and `host_steps` outlive it. `context`: for the functions.
  Stops(ExecutorCore& core, const PassPlan& plan, const Memory& memory, HostSteps& host_steps,
        HostContext* context);

  bool any() const { return !places_.empty(); }
  /// Encodes a range of steps as those of this launch are.
  using Encode = std::function<Body(StepRange)>;
  /// Submits the steps and waits for them, again behind every stop.
  void submit(Slot& slot, const SlotLaunch& launch, StepRange range, const Encode& encode,
              std::uint64_t recording);

 private:
  struct Place {
    std::uint32_t step, node;
    std::uint32_t expert_call;
    HostFunction function;
  };
  /// A tensor of the graph in the memory of the launch, of as many rows as there are.
  struct Located {
    TensorSpec spec;
    std::shared_ptr<Buffer> buffer;
    std::uint64_t offset;
  };
  Located locate(std::uint32_t tensor, std::span<const std::uint32_t> state) const;
  /// Iterations that ran, and the place where the last of them stopped; 0: nowhere.
  struct Stopped {
    std::uint32_t ran = 0, at = 0;
  };
  Stopped stopped(const Slot& slot, bool brought_back) const;
  std::vector<std::uint32_t> state_of(const Slot& slot, bool brought_back) const;
  void serve(const Place& place, std::span<const std::uint32_t> state) const;

  ExecutorCore& core_;
  std::shared_ptr<const ExecutionPlan> plan_;
  const Memory& memory_;
  HostSteps& host_steps_;
  HostContext* context_;
  std::vector<Place> places_;  // by their number, less 1
};

}  // namespace reprise
