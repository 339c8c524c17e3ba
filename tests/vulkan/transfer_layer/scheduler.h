// Scheduler: puts what is submitted to two queues in one order. Timeline semaphores alone: that is
// what the backend uses.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include <vulkan/vulkan.h>

#include "tests/vulkan/transfer_layer/transfer_layer.h"

namespace reprise::transfer_layer {

/// What the driver below offers.
struct Driver {
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  PFN_vkQueueSubmit2 submit = nullptr;
  PFN_vkGetSemaphoreCounterValue counter = nullptr;
};

/// All members may be called concurrently. What they return is the first failure of the driver.
class Scheduler {
 public:
  explicit Scheduler(const Driver& driver) : driver_(driver) {}
  enum Queue : std::uint8_t { compute, transfer };

  VkResult submit(Queue queue, const VkSubmitInfo2& info);
  /// The host waits for this.
  VkResult want(VkSemaphore semaphore, std::uint64_t value);
  /// The host asks how far it is.
  VkResult ask(VkSemaphore semaphore);
  /// Something has changed: the host raised a semaphore.
  VkResult go_on();
  /// Nothing is late any more.
  VkResult finish();
  void forget(VkSemaphore semaphore);

 private:
  struct Submission {
    std::vector<VkSemaphoreSubmitInfo> waits, signals;
    std::vector<VkCommandBufferSubmitInfo> commands;
  };
  VkResult advance(Late late);
  VkResult start(const Submission& submission);
  /// It is complete, or has started.
  bool reached(VkSemaphore semaphore, std::uint64_t value);
  bool may_start(Queue queue, Late late);
  /// Somebody waits for what is held on this queue.
  bool needed(Queue queue);
  bool holds(Queue queue, VkSemaphore semaphore, std::uint64_t value);

  const Driver driver_;
  std::mutex mutex_;
  std::array<std::deque<Submission>, 2> held_;      // by Queue
  std::map<VkSemaphore, std::uint64_t> started_;    // what started submissions will signal
  std::map<VkSemaphore, std::uint64_t> wanted_;     // by the host
  std::map<VkSemaphore, std::uint32_t> questions_;  // since something started
};

}  // namespace reprise::transfer_layer
