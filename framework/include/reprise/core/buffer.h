// Device memory that outlives a session: weights, caches, state, arenas, staging.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace reprise {

enum class BufferKind : std::uint8_t {
  device,    // read and written by steps; mapped where the host shares the device's memory
  upload,    // host-visible source of copies
  download,  // host-visible target of copies
  imported,  // memory of the host in place: read by steps, never written; not mapped
};

/// One allocation of a backend. bytes() and name() never change.
/// Lifetime: freed with its last owner.
/// Threads: one thread at a time may use the mapped bytes, and none while a submission uses them
/// (Backend::last_use).
class Buffer {
 public:
  Buffer(std::string name, std::uint64_t bytes, BufferKind kind)
      : name_(std::move(name)), bytes_(bytes), kind_(kind) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  virtual ~Buffer() = default;

  const std::string& name() const { return name_; }
  std::uint64_t bytes() const { return bytes_; }
  BufferKind kind() const { return kind_; }
  /// Returns when it was allocated.
  /// Units: nanoseconds of CLOCK_MONOTONIC.
  std::int64_t created_ns() const { return created_ns_; }
  /// Returns the mapped memory; null where only the device reaches it; never for upload and
  /// download.
  std::byte* mapped() const { return mapped_; }
  /// Checks that the buffer may be written.
  /// Errors: invalid_argument, naming the buffer, if it is imported.
  void require_writable() const;
  /// Returns whether Backend::free gave its memory back: nothing may use it any more.
  bool freed() const { return freed_.load(); }
  /// Checks that the buffer is not freed.
  /// Errors: stale, naming the buffer.
  void require_alive() const;

  /// Keeps the memory until as many unpin(), even if the buffer is freed meanwhile. Encoders pin
  /// until they are finished, the host while it reads or writes.
  /// Errors: stale if it is freed already.
  void pin();
  void unpin() noexcept { pins_.fetch_sub(1); }
  bool pinned() const { return pins_.load() != 0; }
  /// Refuses new uses and new pins; the memory itself goes with release_memory(). For queues.
  void mark_freed() { freed_.store(true); }
  /// Gives the memory back before the last owner goes, once nothing in flight uses it. For queues.
  virtual void release_memory() noexcept = 0;

 protected:
  std::byte* mapped_ = nullptr;

 private:
  std::string name_;
  std::uint64_t bytes_;
  BufferKind kind_;
  // Sequentially consistent: either pin() sees that it is freed, or the queue sees the pin.
  std::atomic<bool> freed_{false};
  std::atomic<std::uint32_t> pins_{0};
  std::int64_t created_ns_ = std::chrono::steady_clock::now().time_since_epoch().count();
};

}  // namespace reprise
