// What a physical device is and can do, queried once. Devices without the required features are not
// listed, so an index means the same to enumerate() and open().
#pragma once
#include <optional>
#include <vector>

#include <vulkan/vulkan.h>

#include "backends/vulkan/features.h"
#include "reprise/core/backend.h"

namespace reprise::vulkan {

/// Of every buffer: steps bind all of them alike.
inline constexpr VkBufferUsageFlags kBufferUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
    VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
    VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

/// Of texel buffers, one such load: every device can read this format.
inline constexpr VkFormat kTexelFormat = VK_FORMAT_R32G32B32A32_UINT;

/// The widest loads of shaders: ranges they read begin and end at multiples of it.
inline constexpr std::uint64_t kWordBytes = 16;

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceVulkan11Properties properties11{};
  VkPhysicalDeviceVulkan12Properties properties12{};
  VkPhysicalDeviceVulkan13Properties properties13{};
  VkPhysicalDeviceMemoryProperties memory{};
  std::uint32_t queue_family = 0;
  /// A family that only copies, if there is one: its engines run beside the compute units.
  std::optional<std::uint32_t> transfer_family;
  std::uint32_t timestamp_valid_bits = 0;
  bool calibrates_clocks = false;
  bool tells_memory_budget = false;
  OptionalFeatures features;
  /// Memory of the host can be used in place where it starts at a multiple of this. 0: not at all,
  /// as on devices with memory of their own, which would read it over the bus each time.
  std::uint64_t import_alignment = 0;
};

std::vector<PhysicalDevice> usable_devices(VkInstance instance);

DeviceInfo info_of(const PhysicalDevice& device);
DeviceTraits traits_of(const PhysicalDevice& device);

}  // namespace reprise::vulkan
