// An encoded command buffer and everything it refers to.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backends/vulkan/descriptors.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "backends/vulkan/pipelines.h"
#include "backends/vulkan/timestamps.h"
#include "reprise/core/backend.h"

namespace reprise::vulkan {

class VulkanEncoding final : public Encoding {
 public:
  VulkanEncoding(std::shared_ptr<Device> device, std::string name, bool reusable);

  VkCommandBuffer commands() const { return commands_; }
  const Device& device() const { return *device_; }
  /// Throws invalid_argument if it is submitted again without having been made reusable.
  void count_submission() const;

 private:
  friend class VulkanEncoder;
  std::shared_ptr<Device> device_;
  std::string name_;
  bool reusable_;
  mutable std::atomic<bool> submitted_{false};
  CommandPoolHandle pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;  // freed with its pool
  Descriptors descriptors_;
  std::unordered_map<Kernel, std::shared_ptr<const Pipeline>, KernelHash> pipelines_;
  std::vector<std::shared_ptr<Timestamps>> timestamps_;
};

}  // namespace reprise::vulkan
