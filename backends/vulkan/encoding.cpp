#include "backends/vulkan/encoding.h"

#include <utility>

#include "reprise/core/error.h"

namespace reprise::vulkan {

VulkanEncoding::VulkanEncoding(std::shared_ptr<Device> device, std::string name, bool reusable)
    : device_(std::move(device)),
      pool_(device_->command_pools().take(*device_)),
      commands_(pool_->commands()),
      reusable_(reusable),
      name_(std::move(name)) {
  device_->set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, commands(), name_);
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = reusable ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                         : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  device_->check(vkBeginCommandBuffer(commands(), &begin), "vkBeginCommandBuffer");
}

VulkanEncoding::~VulkanEncoding() { device_->command_pools().give(std::move(pool_)); }

void VulkanEncoding::count_submission() const {
  if (!reusable_ && std::exchange(submitted_, true)) {
    throw_invalid_argument("The encoding '", name_,
                           "' is submitted again, but was not encoded as reusable.");
  }
}

}  // namespace reprise::vulkan
