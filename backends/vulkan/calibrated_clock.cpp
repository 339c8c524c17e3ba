#include "backends/vulkan/calibrated_clock.h"

#include <algorithm>
#include <array>
#include <vector>

namespace reprise::vulkan {

bool calibrates_clocks(VkInstance instance, VkPhysicalDevice device) {
  const auto list = reinterpret_cast<PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT>(
      vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT"));
  std::uint32_t count = 0;
  if (list == nullptr || list(device, &count, nullptr) != VK_SUCCESS) {
    return false;
  }
  std::vector<VkTimeDomainEXT> domains(count);
  if (list(device, &count, domains.data()) != VK_SUCCESS) {
    return false;
  }
  return std::ranges::count(domains, VK_TIME_DOMAIN_DEVICE_EXT) != 0 &&
         std::ranges::count(domains, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT) != 0;
}

CalibratedClock::CalibratedClock(VkDevice device)
    : device_(device),
      read_(reinterpret_cast<PFN_vkGetCalibratedTimestampsEXT>(
          vkGetDeviceProcAddr(device, "vkGetCalibratedTimestampsEXT"))) {}

std::optional<ClockSample> CalibratedClock::sample() const {
  if (read_ == nullptr) {
    return std::nullopt;
  }
  constexpr std::size_t kHost = 0, kDevice = 1;
  std::array<VkCalibratedTimestampInfoEXT, 2> clocks{};
  for (VkCalibratedTimestampInfoEXT& clock : clocks) {
    clock.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT;
  }
  clocks[kHost].timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
  clocks[kDevice].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
  std::array<std::uint64_t, 2> ticks{};
  std::uint64_t deviation = 0;
  if (read_(device_, clocks.size(), clocks.data(), ticks.data(), &deviation) != VK_SUCCESS) {
    return std::nullopt;
  }
  return ClockSample{static_cast<std::int64_t>(ticks[kHost]), ticks[kDevice], deviation};
}

}  // namespace reprise::vulkan
