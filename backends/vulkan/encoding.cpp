#include "backends/vulkan/encoding.h"

#include "reprise/core/error.h"

namespace reprise::vulkan {

VulkanEncoding::VulkanEncoding(std::shared_ptr<Device> device, std::string name, bool reusable)
    : device_(std::move(device)), name_(std::move(name)), reusable_(reusable) {
  const VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0,
                                          device_->physical().queue_family};
  VkCommandPool pool = VK_NULL_HANDLE;
  device_->check(vkCreateCommandPool(device_->get(), &pool_info, nullptr, &pool),
                 "vkCreateCommandPool");
  pool_ = {device_->get(), pool};
  const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr,
                                         pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  device_->check(vkAllocateCommandBuffers(device_->get(), &info, &commands_),
                 "vkAllocateCommandBuffers");
  device_->set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, commands_, name_);
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = reusable ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                         : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  device_->check(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
}

void VulkanEncoding::count_submission() const {
  if (submitted_.exchange(true, std::memory_order_relaxed) && !reusable_) {
    invalid("The encoding '" + name_ + "' is submitted again, but was not encoded as reusable.");
  }
}

}  // namespace reprise::vulkan
