// Device: a handle on an opened backend, with the tensors a user makes outside of sessions.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "reprise/core/backend.h"

namespace reprise {

class UploadRing;

/// A cheap value; copies share the device. All members may be called concurrently.
class Device {
 public:
  explicit Device(std::shared_ptr<Backend> backend);
  Backend& backend() const { return *backend_; }
  const DeviceInfo& info() const { return backend_->info(); }

  /// Persistent tensors. Bytes are in the order of a contiguous tensor of that shape and dtype.
  /// Errors: invalid_argument for another size, out_of_memory.
  Tensor zeros(const Shape& shape, DType dtype, std::string name = {}) const;
  Tensor from_host(const Shape& shape, DType dtype, std::span<const std::byte> bytes,
                   std::string name = {}) const;
  Tensor from_host(const Shape& shape, std::span<const float> values, std::string name = {}) const;
  Tensor from_host(const Shape& shape, std::span<const std::int32_t> values,
                   std::string name = {}) const;
  /// The bytes of a persistent, contiguous tensor, after all work submitted so far that writes it:
  /// where the host shares the device's memory, other work is not waited for. Throws
  /// invalid_argument for a session's transient: declare it with output() instead.
  std::vector<std::byte> to_host(const Tensor& tensor) const;

  /// A buffer over memory of the host, used in place: it may be read, not written. `owner` keeps
  /// the memory alive, until the last tensor, graph or encoding that uses the buffer is gone; it
  /// may die on any thread and must not own a Device. The first byte starts a page, and the rest of
  /// the last page is mapped too, as mmap does both. Null where the device cannot use it (a
  /// discrete GPU, a misaligned start, memory the driver refuses): upload it instead. Throws
  /// invalid_argument for no bytes.
  std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) const;

  /// Copies to and from any buffer, in order with the work submitted from this thread: a write
  /// waits for work in flight that uses the memory, or is queued behind it; its bytes
  /// may be reused at once. Throws invalid_argument for ranges outside the buffer
  /// and for writing to imported ones.
  void write(const std::shared_ptr<Buffer>& to, std::uint64_t offset,
             std::span<const std::byte> bytes) const;
  void read(const std::shared_ptr<Buffer>& from, std::uint64_t offset,
            std::span<std::byte> bytes) const;

 private:
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<UploadRing> ring_;
};

}  // namespace reprise
