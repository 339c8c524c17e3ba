#include "reprise/session/capture_pool.h"

#include <algorithm>

#include "framework/session/replay/capture_pool_memory.h"
#include "reprise/backend/backend.h"

namespace reprise {

CapturePool::CapturePool(Device device) : memory_(std::make_shared<Memory>(std::move(device))) {}

CapturePool::Memory& CapturePool::memory() const {
  if (memory_ == nullptr) {
    throw_invalid_argument("The pool is empty: make it with a device.");
  }
  return *memory_;
}

std::size_t CapturePool::buffer_count() const { return memory().buffer_count(); }
std::uint64_t CapturePool::bytes() const { return memory().bytes(); }
void CapturePool::seal() const { memory().seal(true); }
void CapturePool::unseal() const { memory().seal(false); }
bool CapturePool::sealed() const { return memory().sealed(); }

CapturePool::Memory::Entry* CapturePool::Memory::find(const Buffer& buffer) {
  const auto it =
      std::ranges::find_if(entries_, [&](const Entry& e) { return e.buffer.get() == &buffer; });
  return it == entries_.end() ? nullptr : &*it;
}

CapturePool::Memory::Entry* CapturePool::Memory::smallest_arena(std::uint64_t bytes) {
  Entry* best = nullptr;
  for (Entry& entry : entries_) {
    const std::uint64_t has = entry.buffer->bytes();
    if (entry.arena && has >= bytes && (best == nullptr || has < best->buffer->bytes())) {
      best = &entry;
    }
  }
  return best;
}

void CapturePool::Memory::keep(const std::shared_ptr<Buffer>& buffer) {
  Entry* known = find(*buffer);
  ++(known != nullptr ? *known : entries_.emplace_back(Entry{buffer})).captured;
}

void CapturePool::Memory::require_unsealed(std::string_view graph, const std::string& wants) const {
  if (sealed_) {
    throw_invalid_argument(
        "The graph '", graph, "' needs ", wants,
        ", which its pool does not have, and the pool is sealed: unseal() it first.");
  }
}

void CapturePool::Memory::drop_freed() {
  std::erase_if(entries_, [](const Entry& e) { return e.buffer->freed(); });
}

std::shared_ptr<Buffer> CapturePool::Memory::admit(
    const Device& device, std::string_view graph, std::uint64_t arena_bytes,
    std::span<const std::shared_ptr<Buffer>> persistent) {
  if (&device.backend() != &device_.backend()) {
    throw_invalid_argument("The graph '", graph, "' is of another device than its pool.");
  }
  std::unique_lock lock(mutex_);
  require_room_for(graph, arena_bytes, persistent);
  if (arena_bytes > 0 && smallest_arena(arena_bytes) == nullptr) {
    lock.unlock();  // where memory is scarce, allocating calls the user, who may ask the pool
    auto arena = device.backend().allocate("arena of a pool", arena_bytes, BufferKind::device,
                                           MemoryPurpose::arenas);
    lock.lock();
    require_room_for(graph, arena_bytes, persistent);
    entries_.push_back({std::move(arena), true});
  }
  for (const std::shared_ptr<Buffer>& buffer : persistent) {
    if (buffer != nullptr) {
      keep(buffer);
    }
  }
  const Entry* shared = arena_bytes == 0 ? nullptr : smallest_arena(arena_bytes);
  return shared == nullptr ? nullptr : shared->buffer;
}

void CapturePool::Memory::require_room_for(std::string_view graph, std::uint64_t arena_bytes,
                                           std::span<const std::shared_ptr<Buffer>> persistent) {
  drop_freed();
  for (const std::shared_ptr<Buffer>& buffer : persistent) {
    if (buffer != nullptr && find(*buffer) == nullptr) {
      require_unsealed(graph, "the buffer (" + buffer->name() + ")");
    }
  }
  if (arena_bytes > 0 && smallest_arena(arena_bytes) == nullptr) {
    require_unsealed(graph, "an arena of (" + std::to_string(arena_bytes) + ") bytes");
  }
}

void CapturePool::Memory::replace(std::string_view graph, const Buffer& from,
                                  const std::shared_ptr<Buffer>& to) {
  const std::lock_guard lock(mutex_);
  drop_freed();
  if (find(*to) == nullptr) {
    require_unsealed(graph, "the buffer (" + to->name() + ")");
  }
  keep(to);
  std::erase_if(entries_, [&](Entry& e) { return e.buffer.get() == &from && --e.captured == 0; });
}

std::size_t CapturePool::Memory::buffer_count() {
  const std::lock_guard lock(mutex_);
  drop_freed();
  return entries_.size();
}

std::uint64_t CapturePool::Memory::bytes() {
  const std::lock_guard lock(mutex_);
  drop_freed();
  std::uint64_t sum = 0;
  for (const Entry& entry : entries_) {
    sum += entry.buffer->bytes();
  }
  return sum;
}

void CapturePool::Memory::seal(bool sealed) {
  const std::lock_guard lock(mutex_);
  sealed_ = sealed;
}

bool CapturePool::Memory::sealed() {
  const std::lock_guard lock(mutex_);
  return sealed_;
}

}  // namespace reprise
