// Limits of drivers that the device of the tests does not have.
#include "backends/vulkan/host_signal.h"
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

/// The semaphore of a device whose limit is small, and one that the host holds submissions with.
class SmallTimelineLimit : public ::testing::Test {
 protected:
  /// It waits for the gate.
  void submit(std::uint64_t value) {
    const auto at = [](VkSemaphore semaphore, std::uint64_t reached) {
      return VkSemaphoreSubmitInfo{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                   .pNext = nullptr,
                                   .semaphore = semaphore,
                                   .value = reached,
                                   .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                   .deviceIndex = 0};
    };
    const VkSemaphoreSubmitInfo wait = at(gate_.get(), 1), signal = at(timeline_.get(), value);
    VkSubmitInfo2 info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    info.waitSemaphoreInfoCount = 1;
    info.pWaitSemaphoreInfos = &wait;
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &signal;
    timeline_.submit(info, value);
  }
  static constexpr std::uint64_t kLimit = 3, kTimeoutNs = 60'000'000'000;
  const std::shared_ptr<Device> device_ = [] {
    auto instance = std::make_shared<Instance>(false, LogCallback());
    PhysicalDevice physical = usable_devices(instance->get()).at(0);
    physical.properties12.maxTimelineSemaphoreValueDifference = kLimit;
    return std::make_shared<Device>(std::move(instance), physical, OpenOptions());
  }();
  VulkanHostSignal gate_{device_};
  Timeline timeline_{device_, QueueKind::compute};
};

TEST_F(SmallTimelineLimit, IsKeptByASubmissionToAnIdleQueue) {
  submit(9);
  EXPECT_EQ(timeline_.counter(), 6U) << "raised twice, and held there by the gate";
  gate_.raise();
  EXPECT_TRUE(timeline_.wait(9, kTimeoutNs));
}

TEST_F(SmallTimelineLimit, RaisesNothingOnAQueueThatIsAtWork) {
  submit(1);
  submit(9);
  EXPECT_EQ(timeline_.counter(), 0U);
  gate_.raise();
  EXPECT_TRUE(timeline_.wait(9, kTimeoutNs));
}

}  // namespace
}  // namespace reprise::vulkan
