#include "framework/session/replay/slots.h"

#include <algorithm>

namespace reprise {

Slot* Slots::acquire(bool may_wait) {
  Slot* oldest = nullptr;
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->in_hands()) {
      continue;
    }
    if (slot->phase() == Slot::Phase::idle || slot->done()) {
      slot->reserve();
      return slot.get();
    }
    if (oldest == nullptr || slot->sequence() < oldest->sequence()) {
      oldest = slot.get();
    }
  }
  if (oldest == nullptr) {
    throw_error(ErrorCode::busy, "All (", slots_.size(), ") slots of the graph '",
                slots_.front()->graph_name(),
                "' are held by tickets; release one, or finish the session with more slots.");
  }
  if (!may_wait) {
    return nullptr;
  }
  oldest->reserve();
  return oldest;
}

bool Slots::wait(std::chrono::nanoseconds timeout) {
  const auto found = [&] {
    return std::ranges::any_of(slots_, [](const auto& slot) { return !slot->in_hands(); });
  };
  if (timeout <= std::chrono::nanoseconds(0)) {
    return found();
  }
  // An hour is as good as for ever, and no clock overflows.
  std::unique_lock lock(mutex_);
  ++waiting_;
  const bool waited = released_.wait_for(
      lock, std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1)), found);
  --waiting_;
  return waited;
}

void Slots::released() noexcept {
  if (waiting_ == 0) {
    return;
  }
  { const std::lock_guard lock(mutex_); }  // not between the look and the wait above
  released_.notify_all();
}

bool Slots::in_use() const {
  return std::ranges::any_of(slots_, [](const auto& slot) {
    return slot->in_hands() || (slot->phase() == Slot::Phase::released && !slot->done());
  });
}

void Slots::reclaim() noexcept {
  for (const auto& slot : slots_) {
    try {
      slot->reclaim();
    } catch (...) {  // NOLINT(bugprone-empty-catch): its owner was told
    }
  }
}

}  // namespace reprise
