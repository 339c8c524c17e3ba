#include "backends/vulkan/kernel_families.h"

#include <algorithm>
#include <string>

#include "reprise/core/error.h"

namespace reprise::vulkan {
namespace {

constexpr std::uint32_t kLanes = 8;
// What the gpu kernels are written for.
constexpr std::uint32_t kSharedBytes = 16384;
constexpr std::uint32_t kWorkgroup = 256;
constexpr std::uint32_t kSmallestSubgroup = 4;

/// What the device lacks for the family; empty if nothing.
std::string lacking(const PhysicalDevice& device, KernelFamily family) {
  const auto has = [&](VkSubgroupFeatureFlags operations) {
    return (device.features.subgroup_operations & operations) == operations;
  };
  switch (family) {
    case KernelFamily::portable:
      return "";
    case KernelFamily::lanes:
      if (device.properties11.subgroupSize != kLanes) {
        return "subgroups of 8 invocations (" + std::to_string(device.properties11.subgroupSize) +
               ")";
      }
      if (!device.features.shader_int64) {
        return "64-bit integers";
      }
      // Long rows take the gpu kernels.
      return lacking(device, KernelFamily::gpu);
    case KernelFamily::gpu: {
      const VkPhysicalDeviceLimits& limits = device.properties.limits;
      if (limits.maxComputeSharedMemorySize < kSharedBytes) {
        return "16384 bytes of shared memory (" +
               std::to_string(limits.maxComputeSharedMemorySize) + ")";
      }
      const std::uint32_t workgroup =
          std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
      if (workgroup < kWorkgroup) {
        return "workgroups of 256 invocations (" + std::to_string(workgroup) + ")";
      }
      const std::uint32_t subgroup = device.properties13.minSubgroupSize;
      if (subgroup < kSmallestSubgroup) {
        return "subgroups of at least 4 invocations (" + std::to_string(subgroup) + ")";
      }
      return has(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) ? "" : "subgroup arithmetic";
    }
  }
  return "";
}

}  // namespace

KernelFamily kernels_for(const PhysicalDevice& device) {
  const bool software = device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const KernelFamily family = software ? KernelFamily::lanes : KernelFamily::gpu;
  return lacking(device, family).empty() ? family : KernelFamily::portable;
}

void require_kernels(const PhysicalDevice& device, KernelFamily family) {
  const std::string lacks = lacking(device, family);
  if (!lacks.empty()) {
    throw_error(ErrorCode::unsupported, device.properties.deviceName, " cannot run the (",
                name_of(family), ") kernels: they need ", lacks, ".");
  }
}

std::uint64_t largest_binding(const PhysicalDevice& device, KernelFamily family) {
  const VkPhysicalDeviceLimits& limits = device.properties.limits;
  const std::uint64_t texels = limits.maxTexelBufferElements * kWordBytes;
  return family == KernelFamily::lanes
             ? std::min<std::uint64_t>(limits.maxStorageBufferRange, texels)
             : limits.maxStorageBufferRange;
}

}  // namespace reprise::vulkan
