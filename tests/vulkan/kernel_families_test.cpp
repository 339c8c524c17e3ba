// Which kernels a device gets, of made-up devices.
#include "backends/vulkan/kernel_families.h"

#include <cstring>

#include "tests/testing.h"

namespace reprise::vulkan {
namespace {

using testing::expect_error;

PhysicalDevice device_like(VkPhysicalDeviceType type, std::uint32_t subgroup) {
  PhysicalDevice device;
  device.properties.deviceType = type;
  std::strcpy(device.properties.deviceName, "Made up");
  device.properties.limits.maxComputeSharedMemorySize = 32768;
  device.properties.limits.maxComputeWorkGroupInvocations = 1024;
  device.properties.limits.maxComputeWorkGroupSize[0] = 1024;
  device.properties11.subgroupSize = subgroup;
  device.properties13.minSubgroupSize = subgroup;
  device.features.shader_int64 = true;
  device.features.subgroup_operations =
      VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  return device;
}

PhysicalDevice gpu() { return device_like(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, 32); }
PhysicalDevice software() { return device_like(VK_PHYSICAL_DEVICE_TYPE_CPU, 8); }

/// The device gets the portable kernels, and the error for asking says why.
void expect_refused(const PhysicalDevice& device, KernelFamily family, const std::string& need) {
  EXPECT_EQ(kernels_for(device), KernelFamily::portable);
  expect_error(ErrorCode::unsupported,
               {"Made up cannot run the (" + std::string(name_of(family)) + ") kernels", need},
               [&] { require_kernels(device, family); });
}

TEST(VulkanKernelFamilies, GpusGetTheirOwn) {
  EXPECT_EQ(kernels_for(gpu()), KernelFamily::gpu);
  EXPECT_EQ(kernels_for(device_like(VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, 16)),
            KernelFamily::gpu);
}

TEST(VulkanKernelFamilies, SoftwareDriversOfEightLanesGetTheirOwn) {
  EXPECT_EQ(kernels_for(software()), KernelFamily::lanes);
}

TEST(VulkanKernelFamilies, EveryDeviceRunsThePortableOnes) {
  EXPECT_NO_THROW(require_kernels(PhysicalDevice(), KernelFamily::portable));
}

TEST(VulkanKernelFamilies, LanesNeedSubgroupsOfEight) {
  expect_refused(device_like(VK_PHYSICAL_DEVICE_TYPE_CPU, 4), KernelFamily::lanes,
                 "subgroups of 8 invocations (4)");
}

TEST(VulkanKernelFamilies, LanesNeedWideIntegers) {
  PhysicalDevice device = software();
  device.features.shader_int64 = false;
  expect_refused(device, KernelFamily::lanes, "64-bit integers");
}

TEST(VulkanKernelFamilies, GpusNeedSharedMemory) {
  PhysicalDevice device = gpu();
  device.properties.limits.maxComputeSharedMemorySize = 16383;
  expect_refused(device, KernelFamily::gpu, "16384 bytes of shared memory (16383)");
}

TEST(VulkanKernelFamilies, GpusNeedLargeWorkgroups) {
  PhysicalDevice device = gpu();
  device.properties.limits.maxComputeWorkGroupInvocations = 128;
  expect_refused(device, KernelFamily::gpu, "workgroups of 256 invocations (128)");
}

TEST(VulkanKernelFamilies, GpusNeedSubgroupsOfFour) {
  PhysicalDevice device = gpu();
  device.properties13.minSubgroupSize = 2;
  expect_refused(device, KernelFamily::gpu, "subgroups of at least 4 invocations (2)");
}

TEST(VulkanKernelFamilies, GpusNeedSubgroupArithmetic) {
  PhysicalDevice device = gpu();
  device.features.subgroup_operations = VK_SUBGROUP_FEATURE_BALLOT_BIT;
  expect_refused(device, KernelFamily::gpu, "subgroup arithmetic");
}

}  // namespace
}  // namespace reprise::vulkan
