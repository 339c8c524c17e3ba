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

  /// Gives the memory of a persistent tensor back before its last handle goes: of its whole buffer,
  /// so of every tensor in it. It happens at once, or when the work in flight and the open sessions
  /// that use it are through with it. From now on its use throws stale: in an op, to_host, read and
  /// write, in finish() of a session that used it, in a launch of a graph that was recorded with it
  /// (CapturedGraph::stale tells, rebind() repairs it). Does nothing if it is freed already. Throws
  /// invalid_argument for transients and for tensors of another device. Memory reached through
  /// Buffer::mapped() is the caller's own care.
  void free(const Tensor& tensor) const;
  /// A tensor of `shape` whose first bytes are those of `tensor`, after all work submitted so far,
  /// and whose rest is zero; frees `tensor`. Waits for nothing. The first dimension may be larger,
  /// the others are the same; with the same shape it is `tensor` itself. Throws invalid_argument
  /// for other shapes, and for a tensor that does not fill its buffer.
  [[nodiscard]] Tensor grow(const Tensor& tensor, const Shape& shape) const;

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
  /// and for writing to imported ones, stale for freed ones.
  void write(const std::shared_ptr<Buffer>& to, std::uint64_t offset,
             std::span<const std::byte> bytes) const;
  void read(const std::shared_ptr<Buffer>& from, std::uint64_t offset,
            std::span<std::byte> bytes) const;

 private:
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<UploadRing> ring_;
};

}  // namespace reprise
