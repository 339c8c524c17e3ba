// An encoded command buffer and everything it refers to.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/vulkan/command_pools.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "backends/vulkan/host_signal.h"
#include "backends/vulkan/kernel_use.h"
#include "backends/vulkan/timestamps.h"
#include "reprise/backend/backend.h"

namespace reprise::vulkan {

class VulkanEncoding final : public Encoding {
 public:
  VulkanEncoding(std::shared_ptr<Device> device, std::string name, bool reusable);
  VulkanEncoding(const VulkanEncoding&) = delete;
  VulkanEncoding& operator=(const VulkanEncoding&) = delete;
  ~VulkanEncoding() override;

  VkCommandBuffer commands() const { return commands_; }
  const Device& device() const { return *device_; }
  /// See EncoderOptions; null: none.
  VulkanHostSignal* after() const { return after_.get(); }
  /// Throws invalid_argument if it is submitted again without having been made reusable.
  void count_submission() const;

 private:
  friend class VulkanEncoder;
  // What every submission reads comes first: it is seldom in the caches.
  std::shared_ptr<Device> device_;
  std::unique_ptr<CommandPool> pool_;
  VkCommandBuffer commands_;
  bool reusable_;
  mutable bool submitted_ = false;  // guarded by its queue
  std::shared_ptr<VulkanHostSignal> after_;
  std::string name_;
  std::vector<std::unique_ptr<KernelUse>> kernels_;
  std::vector<BufferViewHandle> views_;
  std::vector<std::shared_ptr<Timestamps>> timestamps_;
};

}  // namespace reprise::vulkan
