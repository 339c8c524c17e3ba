// Command pools with one command buffer each, handed on from encoding to encoding with the memory
// they have. They are of one queue family.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "backends/vulkan/command_memory.h"
#include "backends/vulkan/device.h"

namespace reprise::vulkan {

/// Not thread-safe. The device must outlive it.
class CommandPool {
 public:
  CommandPool(Device& device, std::uint32_t family);
  CommandPool(const CommandPool&) = delete;
  CommandPool& operator=(const CommandPool&) = delete;
  ~CommandPool();

  VkCommandBuffer commands() const { return commands_; }
  /// Forgets what was recorded; false if the driver could not.
  bool reset();
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  VkDevice device_;
  CommandMemory memory_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;  // freed with its pool
};

/// All members may be called concurrently.
class CommandPools {
 public:
  explicit CommandPools(std::uint32_t family);
  /// An empty pool.
  std::unique_ptr<CommandPool> take(Device& device);
  /// No submission uses its commands any more.
  void give(std::unique_ptr<CommandPool> pool);
  /// Frees the idle ones.
  void trim();

 private:
  const std::uint32_t family_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CommandPool>> idle_;
  std::size_t idle_bytes_ = 0;
};

}  // namespace reprise::vulkan
