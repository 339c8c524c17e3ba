#include "backends/vulkan/read_queue.h"

#include <chrono>
#include <string>
#include <utility>

#include "backends/vulkan/barriers.h"
#include "backends/vulkan/host_signal.h"
#include "reprise/core/error.h"

namespace reprise::vulkan {

ReadQueue::ReadQueue(std::shared_ptr<Device> device, VkQueue queue)
    : device_(std::move(device)), queue_(queue), done_(timeline_semaphore(*device_)) {}

void ReadQueue::copy(const VulkanBuffer& from, std::uint64_t offset, const VulkanBuffer& to,
                     std::uint64_t bytes, VkSemaphore written, std::uint64_t value) {
  pool_ = device_->command_pools().take(*device_);
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  device_->check(vkBeginCommandBuffer(pool_->commands(), &begin), "vkBeginCommandBuffer");
  opening_barrier(pool_->commands(), false);
  const VkBufferCopy region{offset, 0, bytes};
  vkCmdCopyBuffer(pool_->commands(), from.get(), to.get(), 1, &region);
  host_barrier(pool_->commands());
  device_->check(vkEndCommandBuffer(pool_->commands()), "vkEndCommandBuffer");
  const VkCommandBufferSubmitInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr,
                                           pool_->commands(), 0};
  // The value is there already: waiting for it makes what was written visible to this queue.
  VkSemaphoreSubmitInfo after{};
  after.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  after.semaphore = written;
  after.value = value;
  after.stageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  VkSemaphoreSubmitInfo signal = after;
  signal.semaphore = done_.get();
  signal.value = copies_ + 1;
  signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.waitSemaphoreInfoCount = 1;
  info.pWaitSemaphoreInfos = &after;
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &commands;
  info.signalSemaphoreInfoCount = 1;
  info.pSignalSemaphoreInfos = &signal;
  device_->check(vkQueueSubmit2(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit2");
  ++copies_;
  wait();
  device_->command_pools().give(std::move(pool_));
}

void ReadQueue::wait() {
  const VkSemaphore semaphore = done_.get();
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &copies_;
  const auto hang = std::chrono::nanoseconds(device_->hang_timeout()).count();
  const VkResult result = vkWaitSemaphores(device_->get(), &info, static_cast<std::uint64_t>(hang));
  if (result == VK_TIMEOUT) {
    static_cast<void>(pool_.release());
    done_.release();
    throw_error(ErrorCode::timeout, "A copy to the host does not end within ",
                device_->hang_timeout().count(), " ms.");
  }
  device_->check(result, "vkWaitSemaphores");
}

}  // namespace reprise::vulkan
