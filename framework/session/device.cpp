#include "reprise/session/device.h"

#include <algorithm>
#include <cstring>

namespace reprise {
namespace {

constexpr std::uint64_t kStagingBytes = std::uint64_t{16} << 20U;

std::uint64_t staging_bytes(std::uint64_t total) { return std::min(total, kStagingBytes); }

}  // namespace

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

void Device::transfer(const std::shared_ptr<Buffer>& from, std::uint64_t from_offset,
                      const std::shared_ptr<Buffer>& to, std::uint64_t to_offset,
                      std::uint64_t bytes) const {
  StepList steps;
  steps.copy(StepList::kNoNode, {0, Access::read, BindingType::storage, from_offset, bytes},
             {1, Access::write, BindingType::storage, to_offset, bytes});
  const std::shared_ptr<Buffer> pools[] = {from, to};
  auto encoder =
      backend_->encoder({.name = "transfer", .ends_at_host = to->kind() == BufferKind::download});
  encoder->step(steps, 0, pools);
  const auto encoding = encoder->finish();
  const Encoding* const list[] = {encoding.get()};
  backend_->wait(backend_->submit(list));
}

void Device::write(const std::shared_ptr<Buffer>& to, std::uint64_t offset,
                   std::span<const std::byte> bytes) const {
  if (bytes.empty()) {
    return;
  }
  const auto staging =
      backend_->allocate("write staging", staging_bytes(bytes.size()), BufferKind::upload);
  for (std::uint64_t done = 0; done < bytes.size(); done += staging->bytes()) {
    const std::uint64_t piece = std::min<std::uint64_t>(staging->bytes(), bytes.size() - done);
    std::memcpy(staging->mapped(), bytes.data() + done, piece);
    transfer(staging, 0, to, offset + done, piece);
  }
}

void Device::read(const std::shared_ptr<Buffer>& from, std::uint64_t offset,
                  std::span<std::byte> bytes) const {
  if (bytes.empty()) {
    return;
  }
  const auto staging =
      backend_->allocate("read staging", staging_bytes(bytes.size()), BufferKind::download);
  for (std::uint64_t done = 0; done < bytes.size(); done += staging->bytes()) {
    const std::uint64_t piece = std::min<std::uint64_t>(staging->bytes(), bytes.size() - done);
    transfer(from, offset + done, staging, 0, piece);
    std::memcpy(bytes.data() + done, staging->mapped(), piece);
  }
}

}  // namespace reprise
