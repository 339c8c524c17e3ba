// A queue of the driver with the semaphore that tells how far it is: its value is the number of the
// last submission that is complete on it. Numbers are those of the device, so the values of one
// queue grow, by more than one where others went to another queue.
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
  Timeline(std::shared_ptr<Device> device, QueueKind queue);

  VkSemaphore get() const { return semaphore_.get(); }
  /// The semaphore reaches `value` at its end, as `info` says.
  void submit(const VkSubmitInfo2& info, std::uint64_t value);
  /// Asks the device.
  std::uint64_t counter() const;
  /// Waits a bounded time; true if the submission is complete.
  bool wait(std::uint64_t submission, std::uint64_t timeout_ns) const;
  /// A device that hangs still uses it.
  void leak() { semaphore_.release(); }

 private:
  std::shared_ptr<Device> device_;
  VkQueue queue_;
  SemaphoreHandle semaphore_;
  std::uint64_t last_ = 0;  // submitted, or raised to
};

/// Calls raise(value) on the way from one value of a semaphore to another one, as often as needed
/// for no two values in a row to be further apart than `limit`
/// (maxTimelineSemaphoreValueDifference).
template <class F>
void raise_between(std::uint64_t from, std::uint64_t to, std::uint64_t limit, F&& raise) {
  while (to - from > limit) {
    from += limit;
    raise(from);
  }
}

}  // namespace reprise::vulkan
