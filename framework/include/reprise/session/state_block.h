// StateBlock: the device memory behind a StateLayout. Sessions and graphs that share one continue
// each other's work: a prefill leaves the position where decoding starts.
#pragma once
#include <mutex>
#include <vector>

#include "reprise/graph/state_layout.h"
#include "reprise/session/device.h"

namespace reprise {

/// A cheap value; copies share the block. An empty one (default constructed) means "no state".
/// set() and get() may be called from any thread; use a block on one device only.
class StateBlock {
 public:
  StateBlock() = default;
  /// Fields start at their initial values.
  StateBlock(const Device& device, StateLayout layout);
  explicit operator bool() const { return memory_ != nullptr; }
  const StateLayout& layout() const;

  /// Takes effect with the next launch or finish. A host field keeps its value until set again; a
  /// carried field is patched once, then the device goes on from there. Throws invalid_argument
  /// for unknown or derived fields and for another type.
  void set(std::string_view field, std::int32_t value) const;
  void set(std::string_view field, float value) const;
  /// The value after the last completed launch or finish; before the first, the initial one.
  std::int32_t get(std::string_view field) const;

 private:
  friend class Slot;
  friend class GraphSession;
  struct Memory {
    Memory(const Device& device, StateLayout with);
    StateLayout layout;
    Tensor block, patch, table;  // i32 [1024], [33], [derived fields, 12]
    std::mutex mutex;
    std::vector<std::uint32_t> host;      // values of the host fields
    std::uint32_t patch_mask = 0;         // carried fields set since the last launch
    std::vector<std::uint32_t> patches;   // their values
    std::vector<std::uint32_t> returned;  // the block after the last completed launch
    std::uint64_t returned_by = 0;        // its submission
  };
  const StateFieldInfo& info_of(std::string_view field, DType dtype) const;
  void set_bits(const StateFieldInfo& info, std::uint32_t bits) const;
  std::shared_ptr<Memory> memory_;
};

}  // namespace reprise
