#include "backends/vulkan/physical_device.h"

#include <algorithm>
#include <span>
#include <string>

#include "backends/vulkan/calibrated_clock.h"
#include "backends/vulkan/kernel_families.h"
#include "backends/vulkan/result.h"

namespace reprise::vulkan {
namespace {

// One-invocation-per-element kernels: a software driver runs a workgroup as vectors of its subgroup
// size (8 on lavapipe), hardware fills two subgroups of 32 or one of 64.
constexpr std::uint32_t kWorkgroupOnCpu = 8;
constexpr std::uint32_t kWorkgroupOnGpu = 64;

std::string_view type_name(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return "cpu";
    default:
      return "other";
  }
}

std::string version_text(std::uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
         std::to_string(VK_API_VERSION_MINOR(version)) + "." +
         std::to_string(VK_API_VERSION_PATCH(version));
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

/// False if nothing computes.
bool find_queue_family(PhysicalDevice& device) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, families.data());
  for (std::uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 && families[i].queueCount > 0) {
      device.queue_family = i;
      device.queue_count = families[i].queueCount;
      device.timestamp_valid_bits = families[i].timestampValidBits;
      return true;
    }
  }
  return false;
}

void query_properties(PhysicalDevice& device) {
  VkPhysicalDeviceVulkan13Properties p13{};
  p13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
  VkPhysicalDeviceVulkan12Properties p12{};
  p12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  p12.pNext = &p13;
  VkPhysicalDeviceVulkan11Properties p11{};
  p11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  p11.pNext = &p12;
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &p11, {}};
  vkGetPhysicalDeviceProperties2(device.handle, &all);
  device.properties = all.properties;
  device.properties11 = p11;
  device.properties12 = p12;
  device.properties13 = p13;
  device.properties11.pNext = nullptr;
  device.properties12.pNext = nullptr;
  vkGetPhysicalDeviceMemoryProperties(device.handle, &device.memory);
}

bool has_extension(VkPhysicalDevice device, std::string_view name) {
  std::uint32_t count = 0;
  check(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr),
        "vkEnumerateDeviceExtensionProperties");
  std::vector<VkExtensionProperties> extensions(count);
  check(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()),
        "vkEnumerateDeviceExtensionProperties");
  return std::ranges::any_of(
      extensions, [&](const auto& e) { return std::string_view(e.extensionName) == name; });
}

}  // namespace

std::uint64_t query_import_alignment(const PhysicalDevice& device) {
  if (device.properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU ||
      !has_extension(device.handle, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    return 0;
  }
  VkPhysicalDeviceExternalBufferInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
  info.usage = kBufferUsage;
  info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkExternalBufferProperties possible{};
  possible.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  vkGetPhysicalDeviceExternalBufferProperties(device.handle, &info, &possible);
  const VkExternalMemoryFeatureFlags features =
      possible.externalMemoryProperties.externalMemoryFeatures;
  if ((features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) == 0 ||
      (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0) {
    return 0;
  }
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{};
  host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &host, {}};
  vkGetPhysicalDeviceProperties2(device.handle, &all);
  return host.minImportedHostPointerAlignment;
}

namespace {

/// False if a required feature is missing.
bool query_features(PhysicalDevice& device) {
  VkPhysicalDeviceVulkan13Features f13{};
  f13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  VkPhysicalDeviceVulkan12Features f12{};
  f12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  f12.pNext = &f13;
  VkPhysicalDeviceVulkan11Features f11{};
  f11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  f11.pNext = &f12;
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f11, {}};
  vkGetPhysicalDeviceFeatures2(device.handle, &all);
  OptionalFeatures& features = device.features;
  features.storage_16bit = f11.storageBuffer16BitAccess == VK_TRUE;
  features.storage_8bit = f12.storageBuffer8BitAccess == VK_TRUE;
  features.shader_float16 = f12.shaderFloat16 == VK_TRUE;
  features.shader_int8 = f12.shaderInt8 == VK_TRUE;
  features.shader_int16 = all.features.shaderInt16 == VK_TRUE;
  features.shader_int64 = all.features.shaderInt64 == VK_TRUE;
  features.subgroup_extended_types = f12.shaderSubgroupExtendedTypes == VK_TRUE;
  features.subgroup_broadcast_dynamic_id = f12.subgroupBroadcastDynamicId == VK_TRUE;
  features.zero_initialize_workgroup = f13.shaderZeroInitializeWorkgroupMemory == VK_TRUE;
  const VkPhysicalDeviceVulkan11Properties& p = device.properties11;
  if ((p.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
    features.subgroup_operations = p.subgroupSupportedOperations;
  }
  return f12.timelineSemaphore == VK_TRUE && f13.synchronization2 == VK_TRUE &&
         f13.maintenance4 == VK_TRUE;
}

}  // namespace

std::vector<PhysicalDevice> usable_devices(VkInstance instance) {
  std::uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> handles(count);
  check(vkEnumeratePhysicalDevices(instance, &count, handles.data()), "vkEnumeratePhysicalDevices");
  std::vector<PhysicalDevice> usable;
  for (const VkPhysicalDevice handle : handles) {
    PhysicalDevice device;
    device.handle = handle;
    vkGetPhysicalDeviceProperties(handle, &device.properties);
    if (device.properties.apiVersion < VK_API_VERSION_1_3 || !find_queue_family(device)) {
      continue;
    }
    query_properties(device);
    if (query_features(device)) {
      device.import_alignment = query_import_alignment(device);
      device.calibrates_clocks =
          has_extension(handle, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) &&
          calibrates_clocks(instance, handle);
      device.tells_memory_budget = has_extension(handle, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
      usable.push_back(device);
    }
  }
  return usable;
}

DeviceInfo info_of(const PhysicalDevice& device) {
  const VkPhysicalDeviceProperties& p = device.properties;
  const VkPhysicalDeviceLimits& limits = p.limits;
  DeviceInfo info;
  info.backend = "vulkan";
  info.name = p.deviceName;
  info.type = type_name(p.deviceType);
  info.driver_name = device.properties12.driverName;
  info.driver_info = device.properties12.driverInfo;
  info.api_version = version_text(p.apiVersion);
  info.device_uuid = hex(device.properties11.deviceUUID);
  info.driver_uuid = hex(device.properties11.driverUUID);
  info.vendor_id = p.vendorID;
  info.device_id = p.deviceID;
  info.driver_version = p.driverVersion;
  info.timestamp_period_ns = static_cast<double>(limits.timestampPeriod);
  info.timestamp_valid_bits = device.timestamp_valid_bits;
  info.limits = {
      {"maxStorageBufferRange", limits.maxStorageBufferRange},
      {"maxUniformBufferRange", limits.maxUniformBufferRange},
      {"maxTexelBufferElements", limits.maxTexelBufferElements},
      {"maxPushConstantsSize", limits.maxPushConstantsSize},
      {"maxComputeSharedMemorySize", limits.maxComputeSharedMemorySize},
      {"maxPerStageDescriptorStorageBuffers", limits.maxPerStageDescriptorStorageBuffers},
      {"maxComputeWorkGroupInvocations", limits.maxComputeWorkGroupInvocations},
      {"maxMemoryAllocationCount", limits.maxMemoryAllocationCount},
      {"maxMemoryAllocationSize", device.properties11.maxMemoryAllocationSize},
      {"maxBufferSize", device.properties13.maxBufferSize},
      {"minStorageBufferOffsetAlignment", limits.minStorageBufferOffsetAlignment},
      {"minTexelBufferOffsetAlignment", limits.minTexelBufferOffsetAlignment},
      {"subgroupSize", device.properties11.subgroupSize}};
  info.features = listed(device.features);
  return info;
}

DeviceTraits traits_of(const PhysicalDevice& device) {
  const VkPhysicalDeviceLimits& limits = device.properties.limits;
  DeviceTraits traits;
  traits.cpu_type = device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  traits.overlaps_dispatches = !traits.cpu_type;
  traits.subgroup_size = device.properties11.subgroupSize;
  traits.workgroup_size = traits.cpu_type ? kWorkgroupOnCpu : kWorkgroupOnGpu;
  traits.max_workgroup_size =
      std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  traits.kernels = kernels_for(device);
  traits.shared_bytes = limits.maxComputeSharedMemorySize;
  traits.max_state_bytes = limits.maxUniformBufferRange;
  traits.max_storage_bindings =
      std::min(limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers);
  traits.binding_alignment = static_cast<std::uint32_t>(
      std::max({limits.minStorageBufferOffsetAlignment, limits.minTexelBufferOffsetAlignment,
                VkDeviceSize{kWordBytes}}));
  return traits;
}

}  // namespace reprise::vulkan
