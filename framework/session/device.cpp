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

/// A tensor with memory of its own. `verb`: for the message.
const TensorRecord& persistent(const TensorRef& tensor, const char* verb) {
  if (!tensor || tensor->buffer == nullptr) {
    invalid(std::string(verb) + " persistent tensors, but this one is " +
            (tensor ? "a session's transient (" + to_string(tensor.spec()) +
                          "); declare it with output() and read it from the result"
                    : "empty") +
            ".");
  }
  return *tensor;
}

/// While the host reads or writes a buffer, another thread may free it.
class Pin {
 public:
  Pin(Backend& backend, Buffer& buffer) : backend_(backend), buffer_(buffer) { buffer.pin(); }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin() {
    buffer_.unpin();
    backend_.release_freed();
  }

 private:
  Backend& backend_;
  Buffer& buffer_;
};

bool only_first_grows(const Shape& from, const Shape& to) {
  if (from.rank() != to.rank() || from.rank() == 0 || to.dim(0) < from.dim(0)) {
    return false;
  }
  for (std::size_t i = 1; i < from.rank(); ++i) {
    if (from.dim(i) != to.dim(i)) {
      return false;
    }
  }
  return true;
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
  const TensorRecord& record = persistent(tensor, "to_host reads");
  if (!record.spec.contiguous()) {
    invalid("to_host reads contiguous tensors, but '" + record.name + "' is a strided view.");
  }
  std::vector<std::byte> bytes(record.spec.bytes());
  read(record.buffer, record.offset, bytes);
  return bytes;
}

void Device::free(const Tensor& tensor) const {
  backend_->free(persistent(tensor, "free takes").buffer);
}

Tensor Device::grow(const Tensor& tensor, const Shape& shape) const {
  const TensorRecord& old = persistent(tensor, "grow takes");
  old.buffer->require_alive();
  const TensorSpec spec(shape, old.spec.dtype);
  if (!only_first_grows(old.spec.shape, shape)) {
    invalid("The tensor '" + old.name + "' " + to_string(old.spec) + " cannot grow to (" +
            to_string(spec) + "): only its first dimension may, and not shrink.");
  }
  if (old.offset != 0 || !old.spec.contiguous() || old.spec.bytes() != old.buffer->bytes()) {
    invalid("The tensor '" + old.name + "' " + to_string(old.spec) +
            " does not fill its buffer, which has (" + std::to_string(old.buffer->bytes()) +
            ") bytes; grow replaces whole buffers.");
  }
  if (shape == old.spec.shape) {
    return tensor;
  }
  auto buffer = backend_->allocate(old.name, spec.bytes(), BufferKind::device);
  const std::uint64_t kept = old.buffer->bytes();
  write(buffer, kept, std::vector<std::byte>(spec.bytes() - kept));
  submit_copy(*backend_, old.buffer, 0, buffer, 0, kept, Follow::other_work);
  backend_->free(old.buffer);
  return Tensor::over(std::move(buffer), spec, 0, old.name);
}

void Device::write(const std::shared_ptr<Buffer>& to, std::uint64_t offset,
                   std::span<const std::byte> bytes) const {
  require_range(*to, offset, bytes.size());
  to->require_writable();
  const Pin pin(*backend_, *to);
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
  const Pin pin(*backend_, *from);
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
