#include "backends/vulkan/kernel_families.h"

#include <string>

#include "reprise/core/error.h"

namespace reprise::vulkan {
namespace {

constexpr std::uint32_t kLanes = 8;
constexpr std::uint32_t kSharedBytes = 16384;  // what every device has

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
      return has(VK_SUBGROUP_FEATURE_BALLOT_BIT) ? "" : "subgroup broadcasts";
    case KernelFamily::gpu:
      if (device.properties.limits.maxComputeSharedMemorySize < kSharedBytes) {
        return "16384 bytes of shared memory";
      }
      return has(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) ? "" : "subgroup arithmetic";
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
    throw Error(ErrorCode::unsupported, std::string(device.properties.deviceName) +
                                            " cannot run the (" + std::string(name_of(family)) +
                                            ") kernels: they need " + lacks + ".");
  }
}

}  // namespace reprise::vulkan
