// DirectArena: device memory for the transients of direct sessions. Chunks are kept between
// sessions, so the second session of a kind allocates nothing.
#pragma once
#include <vector>

#include "framework/session/device/staging.h"
#include "framework/session/device/step_stamps.h"
#include "reprise/session/device.h"

namespace reprise {

/// Used by one session at a time. Not thread-safe.
class DirectArena {
 public:
  explicit DirectArena(std::uint64_t first_chunk_bytes = std::uint64_t{1} << 20U)
      : first_chunk_bytes_(first_chunk_bytes) {}
  struct Range {
    std::uint32_t chunk = 0;
    std::uint64_t begin = 0, end = 0;
  };
  /// First fit; a new chunk when none fits, never smaller than the last one. `fresh` ranges were
  /// not used before in this session.
  Range allocate(const Device& device, std::uint64_t bytes, bool fresh);
  /// Free again after the next barrier().
  void release(const Range& range) { released_.push_back(range); }
  void barrier();
  /// Everything is free: the session ended.
  void reset();

  /// One chunk of the same size instead of several, between sessions and with nothing in flight:
  /// what does not fit any of them may fit it.
  void join_chunks(const Device& device);

  const std::shared_ptr<Buffer>& chunk(std::uint32_t i) const { return chunks_[i].buffer; }
  std::uint64_t bytes() const;
  /// Where a chunk begins if all of them lie behind each other.
  std::uint64_t base_of(std::uint32_t chunk) const;
  /// The only chunk; null if there are several or none.
  std::shared_ptr<Buffer> only_chunk() const {
    return chunks_.size() == 1 ? chunks_[0].buffer : nullptr;
  }
  std::uint32_t growths() const { return growths_; }

  Staging staging;
  HostStaging host_staging;
  StepStamps step_stamps;
  /// The submission that uses memory and staging last; 0: none.
  std::uint64_t in_use_until = 0;

 private:
  struct Chunk {
    std::shared_ptr<Buffer> buffer;
    std::uint64_t used = 0;  // bytes above were never handed out in this session
    std::vector<std::pair<std::uint64_t, std::uint64_t>> free;  // below used, sorted, not adjacent
  };
  std::uint64_t first_chunk_bytes_;
  std::vector<Chunk> chunks_;
  std::vector<Range> released_;
  std::uint32_t growths_ = 0;  // in this session
};

}  // namespace reprise
