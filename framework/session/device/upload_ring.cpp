#include "framework/session/device/upload_ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace reprise {
namespace {

constexpr std::uint64_t kLeastBytes = std::uint64_t{4} << 10U;  // where memory is scarce
constexpr std::uint64_t kUsualBytes = std::uint64_t{64} << 10U;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20U;

/// Returns the size of a segment for so many bytes: of what a budget leaves, at most a quarter.
std::uint64_t segment_bytes(const MemoryInfo& memory, std::uint64_t wanted) {
  const std::uint64_t left = memory.budget == 0
                                 ? kMostBytes * 4
                                 : memory.budget - std::min(memory.budget, memory.total.bytes);
  const std::uint64_t most = std::clamp(std::bit_floor(left / 4), kLeastBytes, kMostBytes);
  return std::min(std::bit_ceil(std::clamp(wanted, kUsualBytes, kMostBytes)), most);
}

}  // namespace

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

UploadRing::Segment& UploadRing::segment_with_room(Backend& backend, std::uint64_t wanted,
                                                   std::unique_lock<std::mutex>& lock) {
  while (true) {
    if (Segment& full = segments_[current_]; full.used == full.bytes && full.bytes != 0) {
      current_ = (current_ + 1) % segments_.size();
      Segment& next = segments_[current_];
      backend.wait(next.submission);
      next.used = 0;
      if (next.bytes < std::min(wanted, kMostBytes)) {
        next = {};
      }
    }
    if (segments_[current_].buffer != nullptr) {
      return segments_[current_];
    }
    // Open meanwhile: where memory is scarce, the user's callback may trim this ring.
    lock.unlock();
    const std::uint64_t bytes = segment_bytes(backend.memory().info(), wanted);
    auto buffer =
        backend.allocate("upload ring", bytes, BufferKind::upload, MemoryPurpose::staging);
    lock.lock();
    if (segments_[current_].buffer == nullptr) {
      segments_[current_] = {std::move(buffer), bytes};
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
    Segment& segment = segment_with_room(backend, bytes.size() - done, lock);
    backend.complete(segment.submission);  // many small writes must not stay in flight unnoticed
    const std::uint64_t piece = std::min(segment.bytes - segment.used, bytes.size() - done);
    std::memcpy(segment.buffer->mapped() + segment.used, bytes.data() + done, piece);
    segment.submission = submit_copy(backend, segment.buffer, segment.used, to, offset + done,
                                     piece, AfterSubmit::will_continue);
    segment.used =
        std::min(segment.bytes, (segment.used + piece + kAlignment - 1) / kAlignment * kAlignment);
    done += piece;
  }
}

}  // namespace reprise
