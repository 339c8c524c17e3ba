// What a physical device is and can do, queried once. Devices without the required features are not
// listed, so an index means the same to enumerate() and open().
#pragma once
#include <vector>

#include <vulkan/vulkan.h>

#include "backends/vulkan/features.h"
#include "reprise/core/backend.h"

namespace reprise::vulkan {

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceVulkan11Properties properties11{};
  VkPhysicalDeviceVulkan12Properties properties12{};
  VkPhysicalDeviceVulkan13Properties properties13{};
  VkPhysicalDeviceMemoryProperties memory{};
  std::uint32_t queue_family = 0;
  std::uint32_t timestamp_valid_bits = 0;
  OptionalFeatures features;
};

std::vector<PhysicalDevice> usable_devices(VkInstance instance);

DeviceInfo info_of(const PhysicalDevice& device);
DeviceTraits traits_of(const PhysicalDevice& device);

}  // namespace reprise::vulkan
