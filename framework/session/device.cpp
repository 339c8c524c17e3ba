#include "reprise/session/device.h"

#include <algorithm>
#include <cstring>

#include "framework/session/upload_ring.h"

namespace reprise {
namespace {

constexpr std::uint64_t kStagingBytes = std::uint64_t{16} << 20U;

void require_range(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
    invalid("Buffer '" + buffer.name() + "' has (" + std::to_string(buffer.bytes()) +
            ") bytes, but bytes " + std::to_string(offset) + " to " +
            std::to_string(offset + bytes) + " are asked for.");
  }
}

}  // namespace

Device::Device(std::shared_ptr<Backend> backend)
    : backend_(std::move(backend)), ring_(std::make_shared<UploadRing>()) {}

Tensor Device::zeros(const Shape& shape, DType dtype, std::string name) const {
  const std::vector<std::byte> bytes(TensorSpec(shape, dtype).bytes());
  return from_host(shape, dtype, bytes, std::move(name));
}

Tensor Device::from_host(const Shape& shape, DType dtype, std::span<const std::byte> bytes,
                         std::string name) const {
  const TensorSpec spec(shape, dtype);
  if (bytes.size() != spec.bytes()) {
    invalid("Tensor '" + name + "' " + to_string(spec) + " has " + std::to_string(spec.bytes()) +
            " bytes, but got (" + std::to_string(bytes.size()) + ").");
  }
  auto buffer = backend_->allocate(name, spec.bytes(), BufferKind::device);
  write(buffer, 0, bytes);
  return Tensor::over(std::move(buffer), spec, 0, std::move(name));
}

Tensor Device::from_host(const Shape& shape, std::span<const float> values,
                         std::string name) const {
  return from_host(shape, DType::f32, std::as_bytes(values), std::move(name));
}

Tensor Device::from_host(const Shape& shape, std::span<const std::int32_t> values,
                         std::string name) const {
  return from_host(shape, DType::i32, std::as_bytes(values), std::move(name));
}

std::shared_ptr<Buffer> Device::import(std::string name, std::span<const std::byte> bytes,
                                       std::shared_ptr<const void> owner) const {
  if (bytes.empty()) {
    invalid("The buffer '" + name + "' imports (0) bytes; a buffer has at least 1.");
  }
  return backend_->import(std::move(name), bytes, std::move(owner));
}

std::vector<std::byte> Device::to_host(const Tensor& tensor) const {
  const TensorRef ref(tensor);
  if (!ref || ref->buffer == nullptr) {
    invalid(std::string("to_host reads persistent tensors, but this one is ") +
            (ref ? "a session's transient (" + to_string(ref.spec()) +
                       "); declare it with output() and read it from the result"
                 : "empty") +
            ".");
  }
  if (!ref.spec().contiguous()) {
    invalid("to_host reads contiguous tensors, but '" + ref->name + "' is a strided view.");
  }
  std::vector<std::byte> bytes(ref.spec().bytes());
  read(ref->buffer, ref->offset, bytes);
  return bytes;
}

void Device::write(const std::shared_ptr<Buffer>& to, std::uint64_t offset,
                   std::span<const std::byte> bytes) const {
  require_range(*to, offset, bytes.size());
  to->require_writable();
  if (bytes.empty()) {
    return;
  }
  if (to->mapped() == nullptr) {
    ring_->write(*backend_, to, offset, bytes);
    return;
  }
  backend_->wait(backend_->last_use(*to, Access::read_write));
  std::memcpy(to->mapped() + offset, bytes.data(), bytes.size());
}

void Device::read(const std::shared_ptr<Buffer>& from, std::uint64_t offset,
                  std::span<std::byte> bytes) const {
  require_range(*from, offset, bytes.size());
  if (bytes.empty()) {
    return;
  }
  if (from->mapped() != nullptr) {
    backend_->wait(backend_->last_use(*from, Access::write));
    std::memcpy(bytes.data(), from->mapped() + offset, bytes.size());
    return;
  }
  const auto staging = backend_->allocate(
      "read staging", std::min<std::uint64_t>(bytes.size(), kStagingBytes), BufferKind::download);
  for (std::uint64_t done = 0; done < bytes.size(); done += staging->bytes()) {
    const std::uint64_t piece = std::min<std::uint64_t>(staging->bytes(), bytes.size() - done);
    backend_->wait(submit_copy(*backend_, from, offset + done, staging, 0, piece, Follow::wait));
    std::memcpy(bytes.data() + done, staging->mapped(), piece);
  }
}

}  // namespace reprise
