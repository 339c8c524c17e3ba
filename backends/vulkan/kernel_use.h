// A kernel as one encoding uses it: the pipeline it keeps alive and the descriptor sets it took.
#pragma once
#include <list>
#include <memory>

#include "backends/vulkan/device.h"
#include "backends/vulkan/pipelines.h"
#include "backends/vulkan/set_cache.h"

namespace reprise::vulkan {

/// Not thread-safe. Destroy it after the submissions that use its sets.
class KernelUse {
 public:
  KernelUse(std::shared_ptr<Device> device, std::shared_ptr<const Pipeline> pipeline)
      : device_(std::move(device)), pipeline_(std::move(pipeline)) {}
  KernelUse(const KernelUse&) = delete;
  KernelUse& operator=(const KernelUse&) = delete;
  ~KernelUse();

  const Pipeline& pipeline() const { return *pipeline_; }
  /// A set nothing else uses.
  VkDescriptorSet next_set() {
    if (next_ == end_) {
      add_block();
    }
    return *next_++;
  }

 private:
  void add_block();

  std::shared_ptr<Device> device_;
  std::shared_ptr<const Pipeline> pipeline_;
  std::list<SetBlock> blocks_;
  const VkDescriptorSet* next_ = nullptr;
  const VkDescriptorSet* end_ = nullptr;
};

}  // namespace reprise::vulkan
