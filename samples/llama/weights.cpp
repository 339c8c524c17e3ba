#include "samples/llama/weights.h"

#include <algorithm>
#include <vector>

#include "reprise/core/step.h"

namespace llama {
namespace {

constexpr std::uint64_t kBufferBytes = std::uint64_t{256} << 20U;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + reprise::kStorageAlignment - 1) / reprise::kStorageAlignment *
         reprise::kStorageAlignment;
}

}  // namespace

Weights::Weights(const reprise::Device& device, const reprise::GgufFile& file) {
  const auto& tensors = file.tensors();
  file.require_unchanged();
  const std::uint64_t range = device.backend().traits().max_binding_bytes;
  for (const reprise::GgufTensor& t : tensors) {
    (void)t.require_dtype();  // unsupported ones are named before anything is uploaded
    if (t.data.size() > range) {
      throw reprise::Error(reprise::ErrorCode::unsupported,
                           "The tensor '" + std::string(t.name) + "' has (" +
                               std::to_string(t.data.size()) +
                               ") bytes, but this device binds at most " + std::to_string(range) +
                               " bytes (its storage range).");
    }
  }
  for (std::size_t first = 0; first < tensors.size();) {
    std::size_t end = first;
    std::uint64_t bytes = 0;
    while (end < tensors.size() &&
           (end == first || bytes + tensors[end].data.size() <= kBufferBytes)) {
      bytes += aligned(tensors[end++].data.size());
    }
    const auto buffer = device.backend().allocate("weights", bytes, reprise::BufferKind::device);
    std::vector<std::byte> packed(bytes);
    std::uint64_t offset = 0;
    for (; first < end; ++first) {
      const reprise::GgufTensor& t = tensors[first];
      std::copy(t.data.begin(), t.data.end(), packed.begin() + static_cast<std::ptrdiff_t>(offset));
      const std::string name(t.name);
      tensors_.emplace(name,
                       reprise::Tensor::over(buffer, {t.shape, t.require_dtype()}, offset, name));
      offset += aligned(t.data.size());
    }
    device.write(buffer, 0, packed);
  }
}

reprise::Tensor Weights::find(const std::string& name) const {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? reprise::Tensor() : it->second;
}

reprise::Tensor Weights::get(const std::string& name) const {
  const auto it = tensors_.find(name);
  if (it == tensors_.end()) {
    reprise::invalid("The model has no tensor '" + name + "', which the architecture llama needs.");
  }
  return it->second;
}

}  // namespace llama
