// Host and device clock read together, through VK_EXT_calibrated_timestamps.
#pragma once
#include <optional>

#include <vulkan/vulkan.h>

#include "reprise/backend/backend.h"

namespace reprise::vulkan {

/// Whether the device can read its own clock and CLOCK_MONOTONIC at once; the extension must exist.
bool calibrates_clocks(VkInstance instance, VkPhysicalDevice device);

class CalibratedClock {
 public:
  CalibratedClock() = default;
  /// The extension must be enabled.
  explicit CalibratedClock(VkDevice device);
  /// Empty without the extension, and where the driver fails.
  std::optional<ClockSample> sample() const;

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  PFN_vkGetCalibratedTimestampsEXT read_ = nullptr;
};

}  // namespace reprise::vulkan
