// Stops: the places where the device may stop an iteration, and what the host does there.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "framework/session/replay/memory.h"
#include "framework/session/replay/slot.h"

namespace reprise {

/// A launch runs as if nothing stopped it, in one submission. Where it did stop, all later steps
/// ran over no groups: the host serves the place, and submits what is behind it.
/// Threads: the recording's.
class Stops {
 public:
  /// `memory` outlives it. `context`: for the functions.
  Stops(ExecutorCore& core, const PassPlan& plan, const Memory& memory, HostContext* context);

  bool any() const { return !places_.empty(); }
  struct Place {
    std::uint32_t step, node;
    std::uint32_t expert_call;
    HostFunction function;
  };
  /// Where a part of a launch stopped that is complete.
  struct Stop {
    const Place& place;
    std::uint32_t done;                // iterations before the one that stopped
    std::vector<std::uint32_t> state;  // the block then
  };
  /// `brought_back`: by that part. Empty: it did not stop.
  std::optional<Stop> find(const Slot& slot, bool brought_back) const;
  /// Calls the function of the place.
  void serve(const Stop& stop) const;
  /// Once what is behind the place is encoded: it may run.
  void go_on(const Stop& stop) const;
  /// Nothing of the launch goes on: the next one begins anew.
  void give_up() const;

 private:
  /// A tensor of the graph in the memory of the launch, of as many rows as there are.
  struct Located {
    TensorSpec spec;
    std::shared_ptr<Buffer> buffer;
    std::uint64_t offset;
  };
  Located locate(std::uint32_t tensor, std::span<const std::uint32_t> state) const;
  /// Words of the iteration or of the state block, from the device.
  std::vector<std::uint32_t> read(const Tensor& tensor, std::size_t words) const;

  ExecutorCore& core_;
  std::shared_ptr<const ExecutionPlan> plan_;
  const Memory& memory_;
  HostContext* context_;
  std::vector<Place> places_;  // by their number, less 1
};

}  // namespace reprise
