// Limits of drivers that the device of the tests does not have.
#include "backends/vulkan/instance.h"
#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/timeline.h"
#include "tests/testing.h"

namespace reprise::vulkan {
namespace {

TEST(ImportOfHostMemory, IsForSoftwareDevicesAlone) {
  const Instance instance(false, {});
  for (PhysicalDevice device : usable_devices(instance.get())) {
    const bool imports = device.import_alignment != 0;
    EXPECT_TRUE(!imports || device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU);
    for (const VkPhysicalDeviceType type :
         {VK_PHYSICAL_DEVICE_TYPE_OTHER, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
          VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU}) {
      device.properties.deviceType = type;
      EXPECT_EQ(query_import_alignment(device), 0U) << type;
    }
  }
}

/// The values that a semaphore takes on its way.
std::vector<std::uint64_t> values_between(std::uint64_t from, std::uint64_t to,
                                          std::uint64_t limit) {
  std::vector<std::uint64_t> values;
  raise_between(from, to, limit, [&](std::uint64_t value) { values.push_back(value); });
  return values;
}

TEST(TimelineOfAnIdleQueue, FollowsTheOtherOneInStepsOfTheLimit) {
  using Values = std::vector<std::uint64_t>;
  constexpr std::uint64_t kLimit = 0x7FFFFFFF;  // the least that drivers may have
  EXPECT_EQ(values_between(5, 6, kLimit), Values{});
  EXPECT_EQ(values_between(5, 5 + kLimit, kLimit), Values{});
  EXPECT_EQ(values_between(5, 6 + kLimit, kLimit), Values{5 + kLimit});
  EXPECT_EQ(values_between(0, 3 * kLimit, kLimit), (Values{kLimit, 2 * kLimit}));
  EXPECT_EQ(values_between(1, 2, ~std::uint64_t{0}), Values{});
}

}  // namespace
}  // namespace reprise::vulkan
