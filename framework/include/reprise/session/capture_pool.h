// CapturePool: the memory of captured graphs that take turns. Their arenas lie over each other.
#pragma once
#include <memory>

#include "reprise/session/device.h"

namespace reprise {

/// A session finished with FinishOptions::pool makes a graph whose arena comes from the pool: the
/// smallest one that is large enough, or a new one. Sharing is safe because submissions of a device
/// run one after another and nothing in an arena has to survive one: inputs are copied in and
/// outputs out by each. The pool keeps every buffer its graphs captured, arenas and persistent
/// tensors, until it and they are gone, or the buffer is freed.
///
/// A cheap value; copies share the pool. An empty one (default constructed) means "no pool". All
/// members may be called concurrently; graphs of one pool may be launched from different threads.
class CapturePool {
 public:
  CapturePool() = default;
  explicit CapturePool(Device device);
  explicit operator bool() const { return memory_ != nullptr; }
  bool operator==(const CapturePool&) const = default;

  /// Of the buffers it keeps, each counted once.
  std::size_t buffer_count() const;
  std::uint64_t bytes() const;
  /// From now on no graph may add a buffer: finish() and rebind() throw invalid_argument where one
  /// would. Graphs that find all they need in the pool are still made.
  void seal() const;
  void unseal() const;
  bool sealed() const;

  /// For recordings.
  class Memory;
  Memory& memory() const;

 private:
  std::shared_ptr<Memory> memory_;
};

}  // namespace reprise
