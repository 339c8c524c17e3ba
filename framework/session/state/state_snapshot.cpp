#include "framework/session/state/state_snapshot.h"

#include <algorithm>

namespace reprise {

StateSnapshot::StateSnapshot(StateBlock state) : state_(std::move(state)) {
  if (state_) {
    const StateMemory& memory = state_.inner();
    const std::lock_guard lock(memory.mutex);
    values_.emplace(memory);
  }
}

StateSnapshot::~StateSnapshot() {
  try {
    restore();
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a copy
  }
}

void StateSnapshot::restore() const { restore(true); }

void StateSnapshot::restore_but_host_owned() const { restore(false); }

void StateSnapshot::restore(bool host_owned) const {
  if (!state_) {
    return;
  }
  StateMemory& memory = state_.inner();
  const std::lock_guard lock(memory.mutex);
  memory.patches = values_->patches;
  memory.returned = values_->returned;
  memory.patch_mask = values_->patch_mask;
  memory.returned_by = values_->returned_by;
  memory.bound = values_->bound;
  if (host_owned) {
    memory.host = values_->host;
  }
  for (std::size_t i = 0; i < memory.arrays.size(); ++i) {
    StateArray& array = memory.arrays[i];
    if (host_owned || array.info.owner != StateOwner::host) {
      array.values = values_->arrays[i].values;
      array.pending = values_->arrays[i].pending;
    }
  }
}

void StateSnapshot::show_what_is_set() const {
  if (!state_) {
    return;
  }
  auto& memory = state_.inner();
  const std::lock_guard lock(memory.mutex);
  std::ranges::copy(memory.host, memory.returned.begin());
  const std::uint32_t first = memory.layout.host_count();
  for (std::uint32_t i = 0; i < memory.layout.carried_count(); ++i) {
    if ((memory.patch_mask >> i & 1U) != 0) {
      memory.returned[first + i] = memory.patches[i];
    }
  }
  for (const auto& [target, expression] : memory.layout.derivations()) {
    const std::span<const std::uint32_t> words(memory.returned);
    std::vector<std::int32_t> values(words.begin(), words.begin() + memory.layout.words());
    memory.returned[target] = static_cast<std::uint32_t>(evaluate(expression, values));
  }
  for (const StateArray& array : memory.arrays) {
    if (array.info.owner == StateOwner::host || array.pending) {
      std::ranges::copy(array.values, memory.returned.begin() + array.info.word);
    }
  }
}

std::vector<StatePart> StateSnapshot::parts() const {
  std::vector<StatePart> parts;
  if (!state_) {
    return parts;
  }
  const auto& memory = state_.inner();
  const TensorRef block(memory.block);
  for (const StateFieldInfo& info : memory.layout.fields()) {
    parts.push_back({"state field '" + info.name + "'",
                     block->buffer,
                     block->offset + info.word * sizeof(std::uint32_t),
                     {{1}, info.dtype}});
  }
  for (const StateArray& array : memory.arrays) {
    parts.push_back({"state array '" + array.info.name + "'", memory.array_buffer, array.offset,
                     array.tensor.spec()});
  }
  return parts;
}

}  // namespace reprise
