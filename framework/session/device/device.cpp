#include "reprise/session/device.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "framework/session/device/tensor_factory.h"
#include "framework/session/device/upload_ring.h"

namespace reprise {
namespace {

constexpr std::uint64_t kStagingBytes = std::uint64_t{16} << 20U;

void require_range(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
    throw_invalid_argument("Buffer '", buffer.name(), "' has (", buffer.bytes(),
                           ") bytes, but bytes ", offset, " to ", offset + bytes,
                           " are asked for.");
  }
}

/// A tensor with memory of its own. `verb`: for the message.
const TensorRecord& persistent(const TensorRef& tensor, const char* verb) {
  if (!tensor || tensor->buffer == nullptr) {
    throw_invalid_argument(verb, " persistent tensors, but this one is ",
                           (tensor ? "a session's transient (" + to_string(tensor.spec()) +
                                         "); declare it with output() and read it from the result"
                                   : "empty"),
                           ".");
  }
  return *tensor;
}

/// Both tensors of a copy.
std::pair<const TensorRecord&, const TensorRecord&> copied(const Tensor& from, const Tensor& to) {
  const TensorRecord& source = persistent(from, "copy takes");
  const TensorRecord& target = persistent(to, "copy takes");
  if (!source.spec.contiguous() || !target.spec.contiguous() ||
      source.spec.bytes() != target.spec.bytes()) {
    throw_invalid_argument("copy takes contiguous tensors of as many bytes, but got '", source.name,
                           "' ", to_string(source.spec), " and '", target.name, "' ",
                           to_string(target.spec), ".");
  }
  return {source, target};
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
  return from.rank() > 0 && from.rank() == to.rank() && from.dim(0) <= to.dim(0) &&
         to.with_front(from.dim(0)) == from.with_extent(Extent::kFixed);
}

}  // namespace

Device::Device(std::shared_ptr<Backend> backend)
    : backend_(std::move(backend)), ring_(std::make_shared<UploadRing>()) {}

const DeviceInfo& Device::info() const { return backend_->info(); }

const BackendCapabilities& Device::capabilities() const { return backend_->capabilities(); }

MemoryInfo Device::memory() const { return backend_->memory_info(); }

void Device::set_memory_budget(std::uint64_t bytes) const { backend_->memory().set_budget(bytes); }

void Device::shutdown() const { backend_->shutdown(); }

DeviceStatus Device::status() const {
  DeviceStatus status;
  status.state = backend_->life().state();
  status.submitted = backend_->last_submission();
  if (status.state != DeviceState::lost) {
    try {
      backend_->complete(status.submitted);
    } catch (const Error&) {  // it is lost since, and says so
      status.state = backend_->life().state();
    }
  }
  status.completed = backend_->completed();
  status.in_flight = status.submitted - std::min(status.completed, status.submitted);
  status.allocations = backend_->allocation_count();
  status.memory = backend_->memory_info();
  status.kernels = backend_->kernel_counters();
  status.last_error = backend_->life().last_error();
  return status;
}

void Device::trim() const {
  ring_->trim(*backend_);
  backend_->trim();
}

void Device::synchronize() const { backend_->wait(backend_->last_submission()); }

Ticket Device::synchronize_async() const { return {backend_, backend_->last_submission()}; }

std::shared_ptr<Buffer> Device::import(std::string name, std::span<const std::byte> bytes,
                                       std::shared_ptr<const void> owner) const {
  if (bytes.empty()) {
    throw_invalid_argument("The buffer '", name, "' imports (0) bytes; a buffer has at least 1.");
  }
  return backend_->import(std::move(name), bytes, std::move(owner));
}

const TensorRecord& Device::readable(const Tensor& tensor) {
  const TensorRecord& record = persistent(tensor, "to_host reads");
  if (!record.spec.contiguous()) {
    throw_invalid_argument("to_host reads contiguous tensors, but '", record.name,
                           "' is a strided view.");
  }
  return record;
}

void Device::write(const Tensor& tensor, DType dtype, std::span<const std::byte> bytes) const {
  const TensorRecord& record = persistent(tensor, "write takes");
  const std::string is = "The tensor '" + record.name + "' is " + to_string(record.spec);
  if (!record.spec.contiguous()) {
    throw_invalid_argument(is, ", a strided view; write takes contiguous tensors.");
  }
  if (record.spec.dtype != dtype) {
    throw_error(ErrorCode::dtype_mismatch, is, ", but was given values of (", name_of(dtype), ").");
  }
  if (bytes.size() != record.spec.bytes()) {
    throw_error(ErrorCode::size_mismatch, is, " (", record.spec.bytes(), " bytes), but was given (",
                bytes.size(), ") bytes.");
  }
  write(record.buffer, record.offset, bytes);
}

void Device::free(const Tensor& tensor) const {
  backend_->free(persistent(tensor, "free takes").buffer);
}

Tensor Device::grow(const Tensor& tensor, const Shape& shape) const {
  const TensorRecord& old = persistent(tensor, "grow takes");
  old.buffer->require_alive();
  const TensorSpec spec(shape, old.spec.dtype);
  if (!only_first_grows(old.spec.shape, shape)) {
    throw_invalid_argument("The tensor '", old.name, "' ", to_string(old.spec), " cannot grow to (",
                           to_string(spec), "): only its first dimension may, and not shrink.");
  }
  if (old.offset != 0 || !old.spec.contiguous() || old.spec.bytes() != old.buffer->bytes()) {
    throw_invalid_argument("The tensor '", old.name, "' ", to_string(old.spec),
                           " does not fill its buffer, which has (", old.buffer->bytes(),
                           ") bytes; grow replaces whole buffers.");
  }
  if (shape == old.spec.shape) {
    return tensor;
  }
  auto buffer = backend_->allocate(old.name, spec.bytes(), BufferKind::device);
  const std::uint64_t kept = old.buffer->bytes();
  write_zeros(*this, buffer, kept, spec.bytes() - kept);
  submit_copy(*backend_, old.buffer, 0, buffer, 0, kept, AfterSubmit::will_continue);
  backend_->free(old.buffer);
  return Tensor::over(std::move(buffer), spec, 0, old.name);
}

std::shared_ptr<Buffer> Device::allocate(std::string name, std::uint64_t bytes, BufferKind kind,
                                         std::uint64_t alignment) const {
  const std::uint64_t max = capabilities().allocation_alignment;
  if (!std::has_single_bit(alignment) || alignment > max) {
    throw_invalid_argument("The buffer '", name, "' asks for an alignment of (", alignment,
                           ") bytes; powers of two up to ", max, " are possible.");
  }
  if (kind == BufferKind::imported) {
    throw_invalid_argument("The buffer '", name, "' is to be imported; import() does that.");
  }
  const MemoryPurpose purpose =
      kind == BufferKind::device ? MemoryPurpose::tensors : MemoryPurpose::staging;
  return backend_->allocate(std::move(name), bytes, kind, purpose);
}

Ticket Device::copy_async(const Tensor& from, const Tensor& to) const {
  const auto [source, target] = copied(from, to);
  if (source.buffer == target.buffer && source.offset < target.offset + target.spec.bytes() &&
      target.offset < source.offset + source.spec.bytes()) {
    throw_invalid_argument("copy takes tensors that do not overlap, but '", source.name, "' and '",
                           target.name, "' do.");
  }
  target.buffer->require_writable();
  return {backend_, submit_copy(*backend_, source.buffer, source.offset, target.buffer,
                                target.offset, source.spec.bytes(), AfterSubmit::will_continue)};
}

void Device::copy(const Tensor& from, const Tensor& to) const { copy_async(from, to).wait(); }

void Device::copy_from(const Device& other, const Tensor& from, const Tensor& to) const {
  const auto [source, target] = copied(from, to);
  const std::uint64_t bytes = source.spec.bytes();
  std::vector<std::byte> piece(std::min(bytes, kStagingBytes));
  for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
    const auto part = std::span(piece).first(std::min<std::uint64_t>(piece.size(), bytes - done));
    other.read(source.buffer, source.offset + done, part);
    write(target.buffer, target.offset + done, part);
  }
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
  const auto staging =
      backend_->allocate("read staging", std::min<std::uint64_t>(bytes.size(), kStagingBytes),
                         BufferKind::download, MemoryPurpose::staging);
  for (std::uint64_t done = 0; done < bytes.size(); done += staging->bytes()) {
    const std::uint64_t piece = std::min<std::uint64_t>(staging->bytes(), bytes.size() - done);
    if (!backend_->copy_aside(from, offset + done, staging, piece)) {
      backend_->wait(
          submit_copy(*backend_, from, offset + done, staging, 0, piece, AfterSubmit::will_wait));
    }
    std::memcpy(bytes.data() + done, staging->mapped(), piece);
  }
}

}  // namespace reprise
