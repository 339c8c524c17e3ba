// Device memory: one VkBuffer with its own VkDeviceMemory. Limits are checked before the driver is
// asked.
#pragma once
#include <memory>
#include <string>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "backends/vulkan/host_import.h"
#include "reprise/core/buffer.h"

namespace reprise::vulkan {

/// Bytes rounded up to the words that shaders may read.
constexpr std::uint64_t whole_words(std::uint64_t bytes) {
  return (bytes + kWordBytes - 1) / kWordBytes * kWordBytes;
}

class VulkanBuffer final : public Buffer {
 public:
  /// Throws as Backend::allocate.
  VulkanBuffer(std::shared_ptr<Device> device, std::string name, std::uint64_t bytes,
               BufferKind kind, MemoryPurpose purpose);
  VulkanBuffer(std::shared_ptr<Device> device, std::string name, std::uint64_t bytes,
               HostImport imported);

  VkBuffer get() const { return buffer_.get(); }
  const Device& device() const { return *device_; }
  std::uint64_t padded_bytes() const { return whole_words(bytes()); }
  void release_memory() noexcept override;

 private:
  void create_buffer();
  void allocate(MemoryPurpose purpose);
  /// Allocates from one memory type; throws out_of_memory if its heap is too small.
  void allocate(std::uint32_t type, std::uint64_t size, MemoryPurpose purpose);

  std::shared_ptr<Device> device_;
  MemoryShare share_;
  std::shared_ptr<const void> owner_;  // of imported memory
  MemoryHandle memory_;
  BufferHandle buffer_;
};

}  // namespace reprise::vulkan
