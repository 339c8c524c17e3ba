// CapturePool: memory that captured graphs use in turn. Their arenas overlap.
#pragma once
#include <memory>

#include "reprise/session/device.h"

namespace reprise {

/// Memory shared by captured graphs. A session finished with FinishOptions::pool takes the arena of
/// its graph from here: the smallest one that is large enough, or a new one.
///
/// Sharing is safe because a device runs its submissions one after another. Nothing in an arena has
/// to survive a submission: each one copies inputs in and outputs out.
/// Lifetime: keeps every buffer its graphs captured, arenas and persistent tensors, until the pool
/// and the graphs are gone, or the buffer is freed. Copies share the pool; copying is cheap. A
/// default constructed one is empty: "no pool".
/// Threads: all members may be called concurrently; graphs of one pool may be launched from
/// different threads.
class CapturePool {
 public:
  CapturePool() = default;
  explicit CapturePool(Device device);
  explicit operator bool() const { return memory_ != nullptr; }
  bool operator==(const CapturePool&) const = default;

  /// Returns the number and the bytes of the buffers it keeps, each counted once.
  std::size_t buffer_count() const;
  std::uint64_t bytes() const;
  /// Forbids new buffers from now on. Graphs that find all they need in the pool are still made.
  /// Errors: invalid_argument from finish() and rebind() if the graph needs a new buffer.
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
