// Device: a handle on an opened backend, with the tensors a user makes outside of sessions.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "reprise/core/backend.h"

namespace reprise {

/// A cheap value; copies share the device. All members may be called concurrently.
class Device {
 public:
  explicit Device(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}
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
  /// The bytes of a persistent, contiguous tensor, after all work submitted so far. Throws
  /// invalid_argument for a session's transient: declare it with output() instead.
  std::vector<std::byte> to_host(const Tensor& tensor) const;

  /// Blocking copies to and from any buffer, in pieces through a small staging buffer.
  void write(const std::shared_ptr<Buffer>& to, std::uint64_t offset,
             std::span<const std::byte> bytes) const;
  void read(const std::shared_ptr<Buffer>& from, std::uint64_t offset,
            std::span<std::byte> bytes) const;

 private:
  void transfer(const std::shared_ptr<Buffer>& from, std::uint64_t from_offset,
                const std::shared_ptr<Buffer>& to, std::uint64_t to_offset,
                std::uint64_t bytes) const;
  std::shared_ptr<Backend> backend_;
};

}  // namespace reprise
