// Device-clock readings as a pool of timestamp queries. Encodings share it.
#pragma once
#include <memory>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "reprise/backend/backend.h"

namespace reprise::vulkan {

class VulkanTimestamps final : public Timestamps {
 public:
  VulkanTimestamps(std::shared_ptr<Device> device, std::uint32_t count);
  const Device& device() const { return *device_; }

  void reset(VkCommandBuffer commands) const;
  void take(VkCommandBuffer commands, std::uint32_t index) const;
  void copy(VkCommandBuffer commands, std::uint32_t first_count, VkBuffer to,
            std::uint64_t offset) const;

 private:
  std::shared_ptr<Device> device_;
  QueryPoolHandle queries_;
};

}  // namespace reprise::vulkan
