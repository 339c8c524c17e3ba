#include "framework/session/device/direct_arena.h"

#include <algorithm>
#include <utility>

namespace reprise {
namespace {

std::uint64_t aligned(std::uint64_t bytes) {
  return (std::max<std::uint64_t>(bytes, 1) + kStorageAlignment - 1) / kStorageAlignment *
         kStorageAlignment;
}

}  // namespace

DirectArena::Range DirectArena::allocate(const Device& device, std::uint64_t bytes, bool fresh) {
  const std::uint64_t need = aligned(bytes);
  for (std::uint32_t c = 0; !fresh && c < chunks_.size(); ++c) {
    auto& free = chunks_[c].free;
    const auto it =
        std::ranges::find_if(free, [&](const auto& f) { return f.second - f.first >= need; });
    if (it != free.end()) {
      const Range range{c, it->first, it->first + need};
      it->first = range.end;
      if (it->first == it->second) {
        free.erase(it);
      }
      return range;
    }
  }
  auto chunk = std::ranges::find_if(
      chunks_, [&](const Chunk& c) { return c.buffer->bytes() - c.used >= need; });
  if (chunk == chunks_.end()) {
    const std::uint64_t last =
        chunks_.empty() ? first_chunk_bytes_ : chunks_.back().buffer->bytes();
    chunks_.push_back({device.backend().allocate("direct arena", std::max(need, last),
                                                 BufferKind::device, MemoryPurpose::arenas),
                       0,
                       {}});
    ++growths_;
    chunk = chunks_.end() - 1;
  }
  const std::uint64_t begin = std::exchange(chunk->used, chunk->used + need);
  return {static_cast<std::uint32_t>(chunk - chunks_.begin()), begin, chunk->used};
}

void DirectArena::barrier() {
  for (const Range& range : released_) {
    auto& free = chunks_[range.chunk].free;
    auto it = std::ranges::lower_bound(free, std::pair(range.begin, range.end));
    it = free.insert(it, {range.begin, range.end});
    if (it + 1 != free.end() && (it + 1)->first == it->second) {
      it->second = (it + 1)->second;
      free.erase(it + 1);
    }
    if (it != free.begin() && (it - 1)->second == it->first) {
      (it - 1)->second = it->second;
      free.erase(it);
    }
  }
  released_.clear();
}

void DirectArena::reset() {
  for (Chunk& chunk : chunks_) {
    chunk.used = 0;
    chunk.free.clear();
  }
  released_.clear();
  growths_ = 0;
}

void DirectArena::join_chunks(const Device& device) {
  if (chunks_.size() < 2) {
    return;
  }
  const std::uint64_t all = bytes();
  chunks_.clear();  // first, so that both need not fit
  chunks_.push_back(
      {device.backend().allocate("direct arena", all, BufferKind::device, MemoryPurpose::arenas),
       0,
       {}});
}

std::uint64_t DirectArena::base_of(std::uint32_t chunk) const {
  std::uint64_t sum = 0;
  for (std::uint32_t c = 0; c < chunk; ++c) {
    sum += chunks_[c].buffer->bytes();
  }
  return sum;
}

std::uint64_t DirectArena::bytes() const {
  return base_of(static_cast<std::uint32_t>(chunks_.size()));
}

}  // namespace reprise
