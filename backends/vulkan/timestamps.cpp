#include "backends/vulkan/timestamps.h"

namespace reprise::vulkan {

VulkanTimestamps::VulkanTimestamps(std::shared_ptr<Device> device, std::uint32_t count)
    : Timestamps(count), device_(std::move(device)) {
  VkQueryPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = count;
  VkQueryPool queries = VK_NULL_HANDLE;
  device_->check(vkCreateQueryPool(device_->get(), &info, nullptr, &queries), "vkCreateQueryPool");
  queries_ = {device_->get(), queries};
}

void VulkanTimestamps::reset(VkCommandBuffer commands) const {
  vkCmdResetQueryPool(commands, queries_.get(), 0, count());
}

void VulkanTimestamps::take(VkCommandBuffer commands, std::uint32_t index) const {
  vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries_.get(), index);
}

void VulkanTimestamps::copy(VkCommandBuffer commands, std::uint32_t first_count, VkBuffer to,
                            std::uint64_t offset) const {
  // WAIT: the copy is not ordered after the timestamp writes by barriers alone.
  vkCmdCopyQueryPoolResults(commands, queries_.get(), 0, first_count, to, offset,
                            sizeof(std::uint64_t),
                            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
}

}  // namespace reprise::vulkan
