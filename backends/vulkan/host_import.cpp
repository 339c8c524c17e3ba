#include "backends/vulkan/host_import.h"

#include <algorithm>

namespace reprise::vulkan {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits kHandleType =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
constexpr std::uint64_t kMinPageBytes = 4096;  // of any host: what is certainly mapped as a whole

/// What is imported of `bytes` bytes; 0 if their last unit may not be mapped as a whole.
std::uint64_t whole_units(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t size = (bytes + alignment - 1) / alignment * alignment;
  return size == bytes || alignment <= kMinPageBytes ? size : 0;
}

BufferHandle create_buffer(const Device& device, std::uint64_t size) {
  const VkExternalMemoryBufferCreateInfo external{
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr, kHandleType};
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = &external;
  info.size = size;
  info.usage = kBufferUsage;
  VkBuffer buffer = VK_NULL_HANDLE;
  return vkCreateBuffer(device.get(), &info, nullptr, &buffer) == VK_SUCCESS
             ? BufferHandle(device.get(), buffer)
             : BufferHandle();
}

/// A type the buffer and the pointer allow, where what the host wrote needs no flush.
std::optional<std::uint32_t> find_type(const Device& device, const VkMemoryRequirements& needs,
                                       const void* pointer) {
  VkMemoryHostPointerPropertiesEXT host{};
  host.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
  if (device.host_pointer_properties()(device.get(), kHandleType, pointer, &host) != VK_SUCCESS) {
    return std::nullopt;
  }
  const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
  for (std::uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
    const bool allowed = (needs.memoryTypeBits & host.memoryTypeBits) >> type & 1U;
    const bool coherent =
        (memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    if (allowed && coherent) {
      return type;
    }
  }
  return std::nullopt;
}

MemoryHandle allocate(const Device& device, std::uint64_t size, std::uint32_t type,
                      const void* pointer) {
  const VkImportMemoryHostPointerInfoEXT from{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                              nullptr, kHandleType,
                                              const_cast<void*>(pointer)};  // no step writes to it
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &from, size, type};
  VkDeviceMemory memory = VK_NULL_HANDLE;
  return vkAllocateMemory(device.get(), &info, nullptr, &memory) == VK_SUCCESS
             ? MemoryHandle(device.get(), memory)
             : MemoryHandle();
}

}  // namespace

std::optional<HostImport> import_host_memory(const Device& device, std::string_view buffer,
                                             std::span<const std::byte> bytes,
                                             std::shared_ptr<const void> owner) {
  const PhysicalDevice& physical = device.physical();
  const std::uint64_t alignment = physical.import_alignment;
  if (alignment == 0 || reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment != 0) {
    return std::nullopt;
  }
  const std::uint64_t size = whole_units(bytes.size(), alignment);
  const std::uint64_t limit =
      std::min(physical.properties13.maxBufferSize, physical.properties11.maxMemoryAllocationSize);
  if (size == 0 || size > limit) {
    return std::nullopt;
  }
  HostImport made{{}, std::move(owner), {}, create_buffer(device, size)};
  if (made.buffer.get() == VK_NULL_HANDLE) {
    return std::nullopt;
  }
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(device.get(), made.buffer.get(), &needs);
  const auto type = find_type(device, needs, bytes.data());
  if (!type || needs.size > size) {
    return std::nullopt;
  }
  made.share = device.memory()->reserve(buffer, MemoryPurpose::imported, MemoryAccount::kNoHeap,
                                        bytes.size());
  made.memory = allocate(device, size, *type, bytes.data());
  if (made.memory.get() == VK_NULL_HANDLE ||
      vkBindBufferMemory(device.get(), made.buffer.get(), made.memory.get(), 0) != VK_SUCCESS) {
    return std::nullopt;
  }
  return made;
}

}  // namespace reprise::vulkan
