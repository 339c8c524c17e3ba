// Inputs: the values of a recording's inputs, and what launches with them need of the state.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/session/replay/slot.h"
#include "framework/session/state/extents.h"

namespace reprise {

/// Threads: the recording's.
class Inputs {
 public:
  /// Lifetime: the graph outlives this. `slots`: those that fill() is given are numbered below.
  Inputs(const ComputeGraph& graph, std::size_t slots);

  /// Kept for later launches.
  /// Errors: unknown_name, dtype_mismatch, size_mismatch, extent_out_of_range.
  void set(std::string_view name, DType dtype, std::span<const std::byte> bytes);
  /// What an input was set to last.
  std::span<const std::byte> values(std::size_t input) const { return values_[input].bytes; }
  /// Errors: missing_input for one that was never set, unless it has no bytes.
  void require_given() const;
  /// Of buckets, and of the inputs with extents if their values are these.
  std::span<const ExtentLimit> limits() const { return limits_; }
  std::span<const ExtentLimit> limits(const Slot& slot) const {
    const std::vector<std::uint64_t>& held = held_[slot.index()];
    return held.empty() || held[0] != 0 ? limits() : limits().first(buckets_);
  }
  /// Somebody else writes the inputs of this slot.
  void give_up(const Slot& slot) { std::ranges::fill(held_[slot.index()], 0); }
  /// Copies what the slot does not have yet; allocates nothing.
  void fill(const Slot& slot);
  /// Copies all of them to a slot without a number.
  void fill_once(const Slot& slot) const;

 private:
  struct Value {
    std::vector<std::byte> bytes;
    std::uint64_t version = 1;  // grows with every set
    bool given = false;
  };
  const std::vector<Port>& ports_;
  std::string graph_;  // in errors
  std::vector<Value> values_;
  std::size_t missing_ = 0;
  std::vector<std::vector<std::uint64_t>> held_;  // versions, by slot and input
  std::vector<ExtentLimit> limits_;
  std::size_t buckets_;
};

}  // namespace reprise
