// What a physical device is and can do, queried once. Devices without the required features are not
// listed, so an index means the same to enumerate() and open().
#pragma once
#include <optional>
#include <vector>

#include <vulkan/vulkan.h>

#include "backends/vulkan/features.h"
#include "reprise/backend/backend.h"

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
  std::uint32_t queue_count = 1;  // of that family
  std::uint32_t timestamp_valid_bits = 0;
  bool calibrates_clocks = false;
  bool tells_memory_budget = false;
  OptionalFeatures features;
  /// Memory of the host can be used in place where it starts at a multiple of this. 0: not at all.
  std::uint64_t import_alignment = 0;
};

/// PhysicalDevice::import_alignment. Only software devices have one: GPUs with memory of their own
/// would read over the bus each time, and integrated ones may pin pages for writing, which fails
/// for a file that is mapped read-only: when it is imported, or as the loss of the device at the
/// first submission (gfxreconstruct issue 1133 saw it on Intel and AMD).
std::uint64_t query_import_alignment(const PhysicalDevice& device);

std::vector<PhysicalDevice> usable_devices(VkInstance instance);

DeviceInfo info_of(const PhysicalDevice& device);
DeviceTraits traits_of(const PhysicalDevice& device);

}  // namespace reprise::vulkan
