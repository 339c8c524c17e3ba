// The members of Device that make tensors.
#include "framework/session/device/tensor_factory.h"

#include <algorithm>
#include <vector>

#include "reprise/backend/backend.h"

namespace reprise {
namespace {

void require_elements(const TensorSpec& spec, const std::string& name) {
  if (spec.shape.elements() == 0) {
    throw_invalid_argument("Tensor '", name, "' ", to_string(spec),
                           " has (0) elements; one that has memory has at least 1.");
  }
}

}  // namespace

void write_values(const Device& device, const std::shared_ptr<Buffer>& to, std::uint64_t offset,
                  std::uint64_t bytes, DType dtype, const ElementValues& values) {
  const std::uint64_t element = info_of(dtype).block_bytes;
  std::vector<std::byte> piece(std::min(bytes, kPieceBytes / element * element));
  for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece.size(), bytes - done));
    values(done / element, piece);
    device.write(to, offset + done, piece);
  }
}

Tensor filled(const Device& device, const TensorSpec& spec, const ElementValues& values,
              std::string name) {
  Tensor tensor = device.empty(spec.shape, spec.dtype, std::move(name));
  write_values(device, TensorRef(tensor)->buffer, 0, spec.bytes(), spec.dtype, values);
  return tensor;
}

void write_zeros(const Device& device, const std::shared_ptr<Buffer>& to, std::uint64_t offset,
                 std::uint64_t bytes) {
  const std::vector<std::byte> zeros(std::min(bytes, kPieceBytes));
  for (std::uint64_t done = 0; done < bytes; done += zeros.size()) {
    device.write(to, offset + done,
                 std::span(zeros).first(std::min<std::uint64_t>(zeros.size(), bytes - done)));
  }
}

Tensor Device::empty(const Shape& shape, DType dtype, std::string name) const {
  const TensorSpec spec(shape, dtype);
  require_elements(spec, name);
  auto buffer = backend_->allocate(name, spec.bytes(), BufferKind::device);
  return Tensor::over(std::move(buffer), spec, 0, std::move(name));
}

Tensor Device::zeros(const Shape& shape, DType dtype, std::string name) const {
  Tensor tensor = empty(shape, dtype, std::move(name));
  write_zeros(*this, TensorRef(tensor)->buffer, 0, tensor.spec().bytes());
  return tensor;
}

Tensor Device::ones(const Shape& shape, DType dtype, std::string name) const {
  return full(shape, dtype, 1, std::move(name));
}

Tensor Device::full(const Shape& shape, DType dtype, double value, std::string name) const {
  return filled(*this, {shape, dtype}, constant_values(dtype, value), std::move(name));
}

Tensor Device::arange(const Shape& shape, DType dtype, double start, double step,
                      std::string name) const {
  const TensorSpec spec(shape, dtype);
  require_elements(spec, name);
  const auto elements = static_cast<std::uint64_t>(shape.elements());
  return filled(*this, spec, ramp_values(dtype, start, step, elements), std::move(name));
}

Tensor Device::uniform(const Shape& shape, DType dtype, std::uint64_t seed, double low, double high,
                       std::string name) const {
  return filled(*this, {shape, dtype}, uniform_values(dtype, seed, low, high), std::move(name));
}

Tensor Device::normal(const Shape& shape, DType dtype, std::uint64_t seed, double mean,
                      double stddev, std::string name) const {
  return filled(*this, {shape, dtype}, normal_values(dtype, seed, mean, stddev), std::move(name));
}

Tensor Device::from_host(const Shape& shape, DType dtype, std::span<const std::byte> bytes,
                         std::string name) const {
  const TensorSpec spec(shape, dtype);
  if (bytes.size() != spec.bytes()) {
    throw_error(ErrorCode::size_mismatch, "Tensor '", name, "' ", to_string(spec), " has ",
                spec.bytes(), " bytes, but got (", bytes.size(), ").");
  }
  Tensor tensor = empty(shape, dtype, std::move(name));
  write(TensorRef(tensor)->buffer, 0, bytes);
  return tensor;
}

Tensor Device::from_host(const Shape& shape, std::span<const float> values,
                         std::string name) const {
  return from_host(shape, DType::f32, std::as_bytes(values), std::move(name));
}

Tensor Device::from_host(const Shape& shape, std::span<const std::int32_t> values,
                         std::string name) const {
  return from_host(shape, DType::i32, std::as_bytes(values), std::move(name));
}

}  // namespace reprise
