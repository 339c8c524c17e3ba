// The queue of the driver with the semaphore that tells how far it is: its value is the number of
// the last submission that is complete.
#pragma once
#include <cstdint>
#include <memory>

#include <vulkan/vulkan.h>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"

namespace reprise::vulkan {

/// All members may be called concurrently, but for submit().
class Timeline {
 public:
  explicit Timeline(std::shared_ptr<Device> device);

  VkSemaphore get() const { return semaphore_.get(); }
  void submit(const VkSubmitInfo2& info);
  /// Asks the device.
  std::uint64_t counter() const;
  /// Waits a bounded time; true if the submission is complete.
  bool wait(std::uint64_t submission, std::uint64_t timeout_ns) const;
  /// A device that hangs still uses it.
  void leak() { semaphore_.release(); }

 private:
  std::shared_ptr<Device> device_;
  SemaphoreHandle semaphore_;
};

}  // namespace reprise::vulkan
