#include "backends/vulkan/limits.h"

#include <algorithm>
#include <iterator>

namespace reprise::vulkan {
namespace {

template <class T, class L>
void lower(T& limit, L wanted) {
  if (wanted != 0) {
    limit = std::min(limit, static_cast<T>(wanted));
  }
}

}  // namespace

PhysicalDevice lowered(const PhysicalDevice& device, const LoweredLimits& limits) {
  PhysicalDevice less = device;
  VkPhysicalDeviceLimits& of = less.properties.limits;
  lower(of.maxStorageBufferRange, limits.binding_bytes);
  lower(of.maxUniformBufferRange, limits.state_bytes);
  lower(of.maxPerStageDescriptorStorageBuffers, limits.storage_buffers);
  lower(of.maxComputeSharedMemorySize, limits.shared_bytes);
  if (limits.no_subgroup_arithmetic) {
    less.features.subgroup_operations &=
        ~VkSubgroupFeatureFlags{VK_SUBGROUP_FEATURE_ARITHMETIC_BIT};
  }
  if (limits.no_timestamps) {
    less.timestamp_valid_bits = 0;
  }
  return less;
}

std::vector<HeapInfo> heaps_of(const PhysicalDevice& device) {
  const VkPhysicalDeviceMemoryProperties& memory = device.memory;
  std::vector<HeapInfo> heaps;
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const auto types = std::span(memory.memoryTypes).first(memory.memoryTypeCount);
    const bool visible = std::ranges::any_of(types, [&](const VkMemoryType& type) {
      return type.heapIndex == i && (type.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    });
    heaps.push_back(
        {.bytes = memory.memoryHeaps[i].size,
         .device_local = (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0,
         .host_visible = visible});
  }
  return heaps;
}

void add_driver_budget(const PhysicalDevice& device, std::vector<HeapInfo>& heaps) {
  if (!device.tells_memory_budget) {
    return;
  }
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 all{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget, {}};
  vkGetPhysicalDeviceMemoryProperties2(device.handle, &all);
  for (std::size_t i = 0; i < heaps.size(); ++i) {
    heaps[i].driver_budget = budget.heapBudget[i];
    heaps[i].driver_used = budget.heapUsage[i];
  }
}

bool is_shared(const PhysicalDevice& device, std::uint32_t memory_type) {
  constexpr VkMemoryPropertyFlags kShared = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                            VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                            VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  return (device.memory.memoryTypes[memory_type].propertyFlags & kShared) == kShared;
}

bool shares_memory(const PhysicalDevice& device) {
  for (std::uint32_t type = 0; type < device.memory.memoryTypeCount; ++type) {
    constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    if ((device.memory.memoryTypes[type].propertyFlags & kLocal) != 0) {
      return is_shared(device, type);  // tensors take the first such type
    }
  }
  return false;
}

BackendCapabilities capabilities_of(const PhysicalDevice& device, const DeviceTraits& traits) {
  const VkPhysicalDeviceLimits& limits = device.properties.limits;
  BackendCapabilities has;
  has.replays = traits.replays;
  has.imports_host_memory = device.import_alignment != 0;
  has.maps_device_memory = shares_memory(device);
  has.reads_beside_work = has.maps_device_memory || device.queue_count > 1;
  has.timestamp_valid_bits = device.timestamp_valid_bits;
  has.timestamp_period_ns = static_cast<double>(limits.timestampPeriod);
  has.calibrated_clock = device.calibrates_clocks;
  has.storage_16bit = device.features.storage_16bit;
  has.storage_8bit = device.features.storage_8bit;
  has.float16 = device.features.shader_float16;
  has.int8 = device.features.shader_int8;
  has.int16 = device.features.shader_int16;
  has.int64 = device.features.shader_int64;
  has.subgroup_size = device.properties11.subgroupSize;
  has.min_subgroup_size = device.properties13.minSubgroupSize;
  has.max_subgroup_size = device.properties13.maxSubgroupSize;
  has.subgroup_arithmetic =
      (device.features.subgroup_operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
  has.kernels = traits.kernels;
  has.max_workgroup_invocations = limits.maxComputeWorkGroupInvocations;
  std::ranges::copy(limits.maxComputeWorkGroupSize, has.max_workgroup_size.begin());
  std::ranges::copy(limits.maxComputeWorkGroupCount, has.max_grid.begin());
  has.shared_bytes = limits.maxComputeSharedMemorySize;
  has.push_bytes = limits.maxPushConstantsSize;
  has.storage_buffers = traits.max_storage_bindings;
  has.binding_bytes = traits.max_binding_bytes;
  has.state_bytes = traits.max_state_bytes;
  has.buffer_bytes =
      std::min(device.properties13.maxBufferSize, device.properties11.maxMemoryAllocationSize);
  has.binding_alignment = traits.binding_alignment;
  has.allocation_alignment = static_cast<std::uint32_t>(limits.minMemoryMapAlignment);
  has.import_alignment = device.import_alignment;
  has.heaps = heaps_of(device);
  return has;
}

}  // namespace reprise::vulkan
