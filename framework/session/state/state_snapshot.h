// StateSnapshot: the host's side of a state block as it was. The device's side is memory.
#pragma once
#include "framework/session/state/state_memory.h"

namespace reprise {

/// A piece of persistent memory: "state field 'pos'".
struct StatePart {
  std::string name;
  std::shared_ptr<Buffer> buffer;
  std::uint64_t offset;
  TensorSpec spec;
};

/// Restored when it dies. Nobody else may use the block meanwhile.
class StateSnapshot {
 public:
  /// An empty block: nothing to restore.
  explicit StateSnapshot(StateBlock state);
  StateSnapshot(const StateSnapshot&) = delete;
  StateSnapshot& operator=(const StateSnapshot&) = delete;
  ~StateSnapshot();

  void restore() const;
  /// What the host owns keeps the values that were set since.
  void restore_but_host_owned() const;
  /// get() and values() answer with what was set, as they would after a launch that changes nothing
  /// else.
  void show_what_is_set() const;
  /// Its fields and arrays.
  std::vector<StatePart> parts() const;

 private:
  void restore(bool host_owned) const;
  StateBlock state_;
  std::optional<StateValues> values_;
};

}  // namespace reprise
