#include "backends/vulkan/command_pools.h"

namespace reprise::vulkan {
namespace {

// What may be kept idle: enough for a few sessions at once, not for a very large one for ever.
constexpr std::size_t kMaxIdlePools = 16;
constexpr std::size_t kMaxIdleBytes = std::size_t{64} << 20U;

}  // namespace

CommandPool::CommandPool(Device& device, std::uint32_t family) : device_(device.get()) {
  const VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0,
                                          family};
  device.check(vkCreateCommandPool(device_, &pool_info, memory_.callbacks(), &pool_),
               "vkCreateCommandPool");
  const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr,
                                         pool_, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  const VkResult result = vkAllocateCommandBuffers(device_, &info, &commands_);
  if (result != VK_SUCCESS) {
    vkDestroyCommandPool(device_, pool_, memory_.callbacks());
    device.check(result, "vkAllocateCommandBuffers");
  }
}

CommandPool::~CommandPool() { vkDestroyCommandPool(device_, pool_, memory_.callbacks()); }

bool CommandPool::reset() { return vkResetCommandPool(device_, pool_, 0) == VK_SUCCESS; }

CommandPools::CommandPools(std::uint32_t family) : family_(family) { idle_.reserve(kMaxIdlePools); }

std::unique_ptr<CommandPool> CommandPools::take(Device& device) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<CommandPool> pool = std::move(idle_.back());
      idle_.pop_back();
      idle_bytes_ -= pool->bytes();
      return pool;
    }
  }
  return std::make_unique<CommandPool>(device, family_);
}

void CommandPools::give(std::unique_ptr<CommandPool> pool) {
  if (!pool->reset()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdlePools && idle_bytes_ + pool->bytes() <= kMaxIdleBytes) {
    idle_bytes_ += pool->bytes();
    idle_.push_back(std::move(pool));
  }
}

void CommandPools::trim() {
  std::vector<std::unique_ptr<CommandPool>> freed;
  freed.reserve(kMaxIdlePools);  // give() must not allocate
  const std::lock_guard lock(mutex_);
  freed.swap(idle_);
  idle_bytes_ = 0;
}

}  // namespace reprise::vulkan
