// Options for planning a recorded graph.
#pragma once
#include <cstdint>

namespace reprise {

enum class ReuseRule : std::uint8_t {
  step,   // a range is free after its last reader: smallest arena, reuse may add barriers
  epoch,  // free after the barrier that follows its last reader: never adds a barrier
};

/// Passes make a graph cheaper before it is planned. Exact ones give outputs of the same bits.
struct PassOptions {
  static constexpr PassOptions none() { return {}; }
  static constexpr PassOptions exact() { return {true, true, true, true, false}; }
  /// Also enables passes that round differently: within what the ops promise, but not the same
  /// bits.
  static constexpr PassOptions approximate() { return {true, true, true, true, true}; }
  bool dead_nodes = false;        // removes nodes whose results nothing reads
  bool reorder = false;           // fewer barriers, where nodes need not wait in recorded order
  bool in_place = false;          // a result reuses the memory of an operand at its last read
  bool fuse = false;              // one call for several nodes, by rules that are exact
  bool fuse_approximate = false;  // and by those that are not
  bool operator==(const PassOptions&) const = default;
};

}  // namespace reprise
