// Device memory that outlives a session: weights, caches, state, arenas, staging.
#pragma once
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

/// One allocation of a backend, freed with its last owner. bytes() and name() never change;
/// the mapped bytes may be used by one thread at a time, and not while a submission uses them
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
  /// When it was allocated, CLOCK_MONOTONIC.
  std::int64_t created_ns() const { return created_ns_; }
  /// Null where only the device reaches the memory; never for the kinds upload and download.
  std::byte* mapped() const { return mapped_; }
  /// Throws invalid_argument, naming the buffer, if it is imported.
  void require_writable() const;

 protected:
  std::byte* mapped_ = nullptr;

 private:
  std::string name_;
  std::uint64_t bytes_;
  BufferKind kind_;
  std::int64_t created_ns_ = std::chrono::steady_clock::now().time_since_epoch().count();
};

}  // namespace reprise
