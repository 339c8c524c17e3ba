// What the fault layer is told and asked. The layer lives in the process that is tested, which
// links to it; so a test changes the fault between two calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <vulkan/vulkan.h>

#include "tests/vulkan/fault_layer/entry_points.h"

#define REPRISE_FAULT_API __attribute__((visibility("default")))

namespace reprise::fault {

/// The k-th call of an entry point, counted from 1, or every one from then on, returns `result`
/// without reaching the driver. Two results have consequences, as they have on a real device:
/// - VK_ERROR_DEVICE_LOST: every later call of the kinds work and wait on that device returns it
///   too. What the device had to do is finished first, as a lost device holds nothing in use.
/// - VK_TIMEOUT from the k-th call on: the device hangs. Semaphores stay at what was last seen.
struct Fault {
  std::string_view call;  // not copied
  std::uint64_t k = 0;    // 0: never
  bool later = false;
  VkResult result = VK_SUCCESS;
};

/// Replaces the fault, and counts from 0 again.
REPRISE_FAULT_API void inject(const Fault& fault);
/// Calls that the fault of inject() answered.
REPRISE_FAULT_API std::uint64_t hits();

/// Calls of an entry point since inject(); 0 for one that is not listed.
REPRISE_FAULT_API std::uint64_t calls(std::string_view name);
/// Instances and devices that exist.
REPRISE_FAULT_API std::size_t live_objects();

}  // namespace reprise::fault
