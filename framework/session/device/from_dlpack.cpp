#include <algorithm>
#include <limits>
#include <optional>

#include "framework/session/device/dlpack_dtypes.h"
#include "framework/session/device/tensor_factory.h"
#include "reprise/session/dlpack.h"

namespace reprise {
namespace {

constexpr std::uint64_t kPageBytes = 4096;  // of any host: mapped as a whole

DType dtype_of(const DLDataType& type) {
  const auto* const known = std::ranges::find_if(kDlpackDtypes, [&](const DlpackDtype& k) {
    return k.code == type.code && k.bits == type.bits && type.lanes == 1;
  });
  if (known == std::end(kDlpackDtypes)) {
    unsupported("A DLPack tensor has a dtype of code (" + std::to_string(type.code) + "), (" +
                std::to_string(type.bits) + ") bits and (" + std::to_string(type.lanes) +
                ") lanes; f32, f16, bf16, i32 and i64 of 1 lane are read.");
  }
  return known->dtype;
}

Shape shape_of(const DLTensor& tensor) {
  if (tensor.ndim < 0) {
    throw_invalid_argument("A DLPack tensor has (", tensor.ndim,
                           ") dimensions; there are at least 0.");
  }
  if (tensor.ndim == 0) {
    return {1};
  }
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  if (rank > Shape::kMaxRank) {
    unsupported("A DLPack tensor has (" + std::to_string(tensor.ndim) +
                ") dimensions; at most 4 are read.");
  }
  if (tensor.shape == nullptr) {
    throw_invalid_argument("A DLPack tensor of (", tensor.ndim,
                           ") dimensions has no shape: its pointer is null.");
  }
  const Shape shape(std::span<const std::int64_t>(tensor.shape, rank));
  if (shape.elements() == 0) {
    throw_invalid_argument("A DLPack tensor ", to_string(shape),
                           " has (0) elements; one that has memory has at least 1.");
  }
  return shape;
}

TensorSpec spec_of(const DLTensor& tensor) {
  if (tensor.device.device_type != kDLCPU) {
    unsupported("A DLPack tensor is in memory of device type (" +
                std::to_string(static_cast<int>(tensor.device.device_type)) +
                "); that of the CPU, (1), is read.");
  }
  const DType dtype = dtype_of(tensor.dtype);
  const Shape shape = shape_of(tensor);
  Strides strides = contiguous_strides(shape);
  for (std::size_t i = 0; tensor.strides != nullptr && tensor.ndim > 0 && i < shape.rank(); ++i) {
    // Whatever the stride of a single index is, nobody steps along it.
    strides[i] = shape.dim(i) == 1 ? strides[i] : tensor.strides[i];
    if (strides[i] < 0) {
      unsupported("A DLPack tensor " + to_string(shape) + " has a stride of (" +
                  std::to_string(strides[i]) + ") elements; strides of at least 0 are read.");
    }
  }
  return {shape, dtype, strides};
}

/// Where the first element is; everything the strides reach is addressable.
const std::byte* first_byte(const DLTensor& tensor, const TensorSpec& spec) {
  if (tensor.data == nullptr) {
    throw_invalid_argument("A DLPack tensor ", to_string(spec),
                           " has no memory: its data pointer is null.");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  const std::uint64_t room = std::numeric_limits<std::uintptr_t>::max() - address;
  if (tensor.byte_offset > room || spec.span_bytes() > room - tensor.byte_offset) {
    throw_invalid_argument("A DLPack tensor ", to_string(spec), " has (", spec.span_bytes(),
                           ") bytes from offset (", tensor.byte_offset,
                           ") on, which ends beyond the last address.");
  }
  return static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
}

/// Empty where the device cannot use the memory in place. A buffer starts at a page, the tensor
/// where it lies in it.
std::optional<Tensor> in_place(const Device& device, const TensorSpec& spec, const std::byte* first,
                               const std::string& name, const std::shared_ptr<void>& owner) {
  if (!spec.contiguous() ||
      reinterpret_cast<std::uintptr_t>(first) % info_of(spec.dtype).block_bytes != 0) {
    return std::nullopt;
  }
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(first) % kPageBytes;
  auto buffer = device.import(name, {first - offset, offset + spec.bytes()}, owner);
  if (buffer == nullptr) {
    return std::nullopt;
  }
  return Tensor::over(std::move(buffer), {spec.shape, spec.dtype}, offset, name);
}

/// The elements of a strided tensor, in row-major order.
ElementValues gathered(const TensorSpec& spec, const std::byte* from) {
  return [=](std::uint64_t first, std::span<std::byte> to) {
    const std::size_t element = info_of(spec.dtype).block_bytes;
    for (std::uint64_t i = 0; i < to.size() / element; ++i) {
      auto rest = static_cast<std::int64_t>(first + i);
      std::int64_t at = 0;
      for (std::size_t d = spec.shape.rank(); d-- > 0; rest /= spec.shape.dim(d)) {
        at += rest % spec.shape.dim(d) * spec.strides[d];
      }
      std::copy_n(from + static_cast<std::uint64_t>(at) * element, element,
                  to.data() + i * element);
    }
  };
}

Tensor copied(const Device& device, const TensorSpec& spec, const std::byte* first,
              std::string name) {
  if (spec.contiguous()) {
    return device.from_host(spec.shape, spec.dtype, {first, spec.bytes()}, std::move(name));
  }
  return filled(device, spec, gathered(spec, first), std::move(name));
}

}  // namespace

Tensor from_dlpack(const Device& device, DLManagedTensor* tensor, FromDlpack options) {
  if (tensor == nullptr) {
    throw_invalid_argument("from_dlpack takes a tensor, but got a null pointer.");
  }
  const std::shared_ptr<void> owner(tensor, [](DLManagedTensor* managed) {
    if (managed->deleter != nullptr) {
      managed->deleter(managed);
    }
  });
  const TensorSpec spec = spec_of(tensor->dl_tensor);
  const std::byte* first = first_byte(tensor->dl_tensor, spec);
  if (!options.copy) {
    if (auto made = in_place(device, spec, first, options.name, owner)) {
      return *std::move(made);
    }
  }
  return copied(device, spec, first, std::move(options.name));
}

}  // namespace reprise
