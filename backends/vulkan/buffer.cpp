#include "backends/vulkan/buffer.h"

#include <algorithm>
#include <span>

#include "backends/vulkan/result.h"
#include "reprise/core/error.h"

namespace reprise::vulkan {
namespace {

[[noreturn]] void too_large(const std::string& name, std::uint64_t requested,
                            std::uint64_t available, const std::string& limit) {
  throw_error(ErrorCode::out_of_memory, "Buffer '", name, "' needs (", requested, ") bytes, but ",
              available, " bytes are available (", limit, ").");
}

/// Wanted properties, best first.
std::span<const VkMemoryPropertyFlags> preferences(BufferKind kind) {
  constexpr VkMemoryPropertyFlags kHost =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  static constexpr VkMemoryPropertyFlags kDevice[] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  static constexpr VkMemoryPropertyFlags kUpload[] = {kHost};
  static constexpr VkMemoryPropertyFlags kDownload[] = {kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                                        kHost};
  switch (kind) {
    case BufferKind::upload:
      return kUpload;
    case BufferKind::download:
      return kDownload;
    default:
      return kDevice;
  }
}

/// Drivers list types of equal properties best first (Vulkan 1.3, 11.2.1), so the first fits.
std::uint32_t choose_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed,
                          BufferKind kind) {
  for (const VkMemoryPropertyFlags wanted : preferences(kind)) {
    for (std::uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
      const VkMemoryPropertyFlags has = memory.memoryTypes[type].propertyFlags;
      if ((allowed >> type & 1U) != 0 && (has & wanted) == wanted) {
        return type;
      }
    }
  }
  throw Error(ErrorCode::unsupported, "The device has no memory type for this kind of buffer.");
}

}  // namespace

VulkanBuffer::VulkanBuffer(std::shared_ptr<Device> device, std::string name, std::uint64_t bytes,
                           BufferKind kind, MemoryPurpose purpose)
    : Buffer(std::move(name), bytes, kind), device_(std::move(device)) {
  device_->require_ready();
  if (bytes == 0) {
    throw_invalid_argument("Buffer '", this->name(), "' has (0) bytes; a buffer has at least 1.");
  }
  create_buffer();
  allocate(purpose);
  device_->set_name(VK_OBJECT_TYPE_BUFFER, buffer_.get(), this->name());
}

VulkanBuffer::VulkanBuffer(std::shared_ptr<Device> device, std::string name, std::uint64_t bytes,
                           HostImport imported)
    : Buffer(std::move(name), bytes, BufferKind::imported),
      device_(std::move(device)),
      share_(std::move(imported.share)),
      owner_(std::move(imported.owner)),
      memory_(std::move(imported.memory)),
      buffer_(std::move(imported.buffer)) {
  device_->set_name(VK_OBJECT_TYPE_BUFFER, buffer_.get(), this->name());
}

void VulkanBuffer::release_memory() noexcept {
  mapped_ = nullptr;
  buffer_.destroy();
  memory_.destroy();
  share_.give_back();
  owner_.reset();
}

void VulkanBuffer::create_buffer() {
  const PhysicalDevice& physical = device_->physical();
  const std::uint64_t limit =
      std::min(physical.properties13.maxBufferSize, physical.properties11.maxMemoryAllocationSize);
  if (bytes() > limit || padded_bytes() > limit) {
    too_large(name(), bytes(), limit, "the device's largest buffer");
  }
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = padded_bytes();
  info.usage = kBufferUsage;
  VkBuffer created = VK_NULL_HANDLE;
  device_->check(vkCreateBuffer(device_->get(), &info, nullptr, &created), "vkCreateBuffer");
  buffer_ = {device_->get(), created};
}

void VulkanBuffer::allocate(MemoryPurpose purpose) {
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(device_->get(), buffer_.get(), &needs);
  if (needs.size > device_->physical().properties11.maxMemoryAllocationSize) {
    too_large(name(), needs.size, device_->physical().properties11.maxMemoryAllocationSize,
              "the device's largest allocation");
  }
  const std::uint32_t type = choose_type(device_->physical().memory, needs.memoryTypeBits, kind());
  allocate(type, needs.size, purpose);
  device_->check(vkBindBufferMemory(device_->get(), buffer_.get(), memory_.get(), 0),
                 "vkBindBufferMemory");
  if (kind() != BufferKind::device || device_->maps(type)) {
    void* mapped = nullptr;
    device_->check(vkMapMemory(device_->get(), memory_.get(), 0, VK_WHOLE_SIZE, 0, &mapped),
                   "vkMapMemory");
    mapped_ = static_cast<std::byte*>(mapped);
  }
}

void VulkanBuffer::allocate(std::uint32_t type, std::uint64_t size, MemoryPurpose purpose) {
  const std::uint32_t heap = device_->physical().memory.memoryTypes[type].heapIndex;
  share_ = device_->memory()->reserve(name(), purpose, heap, size);
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, size, type};
  VkDeviceMemory allocated = VK_NULL_HANDLE;
  const VkResult result = vkAllocateMemory(device_->get(), &info, nullptr, &allocated);
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
    const HeapInfo of = device_->memory()->info().heaps[heap];
    too_large(name(), size, of.bytes - of.used.bytes + size,
              "by the heap's size; vkAllocateMemory failed with " + std::string(name_of(result)));
  }
  device_->check(result, "vkAllocateMemory");
  memory_ = {device_->get(), allocated};
}

}  // namespace reprise::vulkan
