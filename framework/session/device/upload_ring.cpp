#include "framework/session/device/upload_ring.h"

#include <algorithm>
#include <cstring>

namespace reprise {

std::uint64_t submit_copy(Backend& backend, const std::shared_ptr<Buffer>& from,
                          std::uint64_t from_offset, const std::shared_ptr<Buffer>& to,
                          std::uint64_t to_offset, std::uint64_t bytes, AfterSubmit then) {
  StepList steps;
  steps.copy(StepList::kNoNode, {0, Access::read, BindingType::storage, from_offset, bytes},
             {1, Access::write, BindingType::storage, to_offset, bytes});
  const std::shared_ptr<Buffer> pools[] = {from, to};
  auto encoder = backend.encoder({.name = "transfer", .ends_at_host = to->mapped() != nullptr});
  encoder->step(steps, 0, pools);
  const EncodingRef list[] = {encoder->finish()};
  return backend.submit(list, then);
}

UploadRing::Segment& UploadRing::segment_with_room(Backend& backend,
                                                   std::unique_lock<std::mutex>& lock) {
  while (true) {
    if (segments_[current_].used == kSegmentBytes) {
      current_ = (current_ + 1) % segments_.size();
      backend.wait(segments_[current_].submission);
      segments_[current_].used = 0;
    }
    if (segments_[current_].buffer != nullptr) {
      return segments_[current_];
    }
    // Open meanwhile: where memory is scarce, the user's callback may trim this ring.
    lock.unlock();
    auto buffer =
        backend.allocate("upload ring", kSegmentBytes, BufferKind::upload, MemoryPurpose::staging);
    lock.lock();
    if (segments_[current_].buffer == nullptr) {
      segments_[current_].buffer = std::move(buffer);
    }
  }
}

void UploadRing::trim(Backend& backend) {
  const std::lock_guard lock(mutex_);
  for (Segment& segment : segments_) {
    if (segment.buffer != nullptr && backend.life().state() != DeviceState::lost &&
        backend.complete(segment.submission)) {
      segment = {};
    }
  }
}

void UploadRing::write(Backend& backend, const std::shared_ptr<Buffer>& to, std::uint64_t offset,
                       std::span<const std::byte> bytes) {
  constexpr std::uint64_t kAlignment = 16;
  std::unique_lock lock(mutex_);
  for (std::uint64_t done = 0; done < bytes.size();) {
    Segment& segment = segment_with_room(backend, lock);
    backend.complete(segment.submission);  // many small writes must not stay in flight unnoticed
    const std::uint64_t piece = std::min(kSegmentBytes - segment.used, bytes.size() - done);
    std::memcpy(segment.buffer->mapped() + segment.used, bytes.data() + done, piece);
    segment.submission = submit_copy(backend, segment.buffer, segment.used, to, offset + done,
                                     piece, AfterSubmit::will_continue);
    segment.used =
        std::min(kSegmentBytes, (segment.used + piece + kAlignment - 1) / kAlignment * kAlignment);
    done += piece;
  }
}

}  // namespace reprise
