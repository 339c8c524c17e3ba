// UploadRing: the way of host bytes into memory only the device reaches. A few staging segments
// that are used in turn, so a write returns as soon as its bytes are staged: the copy to its place
// is queued before whatever is submitted next.
#pragma once
#include <array>
#include <mutex>
#include <span>

#include "reprise/backend/backend.h"

namespace reprise {

/// Thread-safe. Allocates its segments at first use, of the size that is asked for; a segment that
/// is too small for what comes later is replaced when its turn comes.
class UploadRing {
 public:
  void write(Backend& backend, const std::shared_ptr<Buffer>& to, std::uint64_t offset,
             std::span<const std::byte> bytes);
  /// Gives back the segments that nothing in flight uses.
  void trim(Backend& backend);

 private:
  struct Segment {
    std::shared_ptr<Buffer> buffer;
    std::uint64_t bytes = 0;
    std::uint64_t used = 0;
    std::uint64_t submission = 0;  // of the last copy out of it
  };
  /// Returns one with room, if possible for `wanted` bytes; waits until the oldest one is copied.
  Segment& segment_with_room(Backend& backend, std::uint64_t wanted,
                             std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::array<Segment, 3> segments_;
  std::size_t current_ = 0;
};

/// Copies bytes between buffers in a submission of its own; returns it.
std::uint64_t submit_copy(Backend& backend, const std::shared_ptr<Buffer>& from,
                          std::uint64_t from_offset, const std::shared_ptr<Buffer>& to,
                          std::uint64_t to_offset, std::uint64_t bytes, AfterSubmit then);

}  // namespace reprise
