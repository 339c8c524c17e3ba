#include "samples/llama/weights.h"

#include <algorithm>
#include <vector>

#include "reprise/backend/step.h"

namespace llama {
namespace {

constexpr std::uint64_t kBufferBytes = std::uint64_t{256} << 20U;
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kWordBytes = 4;  // the least that kernels read at once

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + reprise::kStorageAlignment - 1) / reprise::kStorageAlignment *
         reprise::kStorageAlignment;
}

bool is_of_experts(const reprise::GgufTensor& t) {
  return t.name.find("_exps.") != std::string_view::npos;
}

/// From the page the first tensor starts in to the end of the last one: they lie in file order.
std::span<const std::byte> pages_of(std::span<const reprise::GgufTensor> tensors) {
  const std::byte* first = tensors.front().data.data();
  first -= reinterpret_cast<std::uintptr_t>(first) % kPageBytes;
  return {first, tensors.back().data.data() + tensors.back().data.size()};
}

void require_shape(const std::string& name, const reprise::Shape& has,
                   const reprise::Shape& shape) {
  if (has != shape) {
    reprise::throw_invalid_argument("The tensor '" + name + "' has the shape (" + to_string(has) +
                                    "), but the model's metadata asks for " + to_string(shape) +
                                    ".");
  }
}

[[noreturn]] void throw_no_tensor(const std::string& name) {
  reprise::throw_invalid_argument("The model has no tensor '" + name +
                                  "', which its architecture needs.");
}

}  // namespace

Weights::Weights(const reprise::Device& device, const reprise::GgufFile& file,
                 reprise::ExpertStore experts)
    : file_(file), experts_(std::move(experts)) {
  const std::span<const reprise::GgufTensor> all = file.tensors();
  file.require_unchanged();
  for (const reprise::GgufTensor& t : all) {
    (void)t.require_dtype();  // unsupported ones are named before anything is uploaded
    bytes_.all += t.data.size();
  }
  const auto stays = [&](const reprise::GgufTensor& t) { return experts_ && is_of_experts(t); };
  std::vector<const reprise::GgufTensor*> copied;
  for (std::size_t first = 0, count = 1; first < all.size(); first += count, count = 1) {
    if (stays(all[first])) {
      bytes_.experts += all[first].data.size();
      continue;
    }
    while (first + count < all.size() && !stays(all[first + count]) &&
           pages_of(all.subspan(first, count + 1)).size() <= kBufferBytes) {
      ++count;
    }
    const auto group = all.subspan(first, count);
    const auto pages = pages_of(group);
    const auto buffer = device.import("weights", pages, file.storage());
    for (const reprise::GgufTensor& t : group) {
      const auto offset = static_cast<std::uint64_t>(t.data.data() - pages.data());
      if (buffer == nullptr || offset % kWordBytes != 0) {
        copied.push_back(&t);
      } else {
        add(t, buffer, offset);
        bytes_.in_place += t.data.size();
      }
    }
  }
  upload(device, copied);
}

void Weights::upload(const reprise::Device& device,
                     std::span<const reprise::GgufTensor* const> tensors) {
  for (std::size_t first = 0; first < tensors.size();) {
    std::size_t end = first;
    std::uint64_t bytes = 0;
    while (end < tensors.size() &&
           (end == first || bytes + tensors[end]->data.size() <= kBufferBytes)) {
      bytes += aligned(tensors[end++]->data.size());
    }
    const auto buffer = device.allocate("weights", bytes);
    std::vector<std::byte> packed(bytes);
    std::uint64_t offset = 0;
    for (; first < end; ++first) {
      const reprise::GgufTensor& t = *tensors[first];
      std::copy(t.data.begin(), t.data.end(), packed.begin() + static_cast<std::ptrdiff_t>(offset));
      add(t, buffer, offset);
      offset += aligned(t.data.size());
    }
    device.write(buffer, 0, packed);
  }
}

void Weights::add(const reprise::GgufTensor& tensor, std::shared_ptr<reprise::Buffer> buffer,
                  std::uint64_t offset) {
  const std::string name(tensor.name);
  tensors_.emplace(
      name, reprise::Tensor::over(std::move(buffer), {tensor.shape, tensor.require_dtype()}, offset,
                                  name));
}

reprise::Tensor Weights::find(const std::string& name) const {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? reprise::Tensor() : it->second;
}

reprise::Tensor Weights::get(const std::string& name) const {
  reprise::Tensor tensor = find(name);
  if (!tensor) {
    throw_no_tensor(name);
  }
  return tensor;
}

reprise::Tensor Weights::get(const std::string& name, const reprise::Shape& shape) const {
  reprise::Tensor tensor = get(name);
  require_shape(name, tensor.shape(), shape);
  return tensor;
}

reprise::Tensor Weights::expert(const std::string& name, const reprise::Shape& shape,
                                const std::string& layer, const std::string& projection) const {
  if (!experts_) {
    return get(name, shape);
  }
  const reprise::GgufTensor* tensor = file_.find(name);
  if (tensor == nullptr) {
    throw_no_tensor(name);
  }
  require_shape(name, tensor->shape, shape);
  experts_.add(layer, projection, shape, tensor->require_dtype(), tensor->data, file_.storage());
  return {};
}

}  // namespace llama
