// Descriptor sets of one encoding, from pools that grow with it. Sets are never freed singly.
#pragma once
#include <memory>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "backends/vulkan/pipelines.h"

namespace reprise::vulkan {

/// Not thread-safe.
class Descriptors {
 public:
  /// What the next pool holds; counted here, so the driver never sees a full pool.
  struct Room {
    std::uint32_t sets, storage, uniform;
  };
  VkDescriptorSet allocate(Device& device, const Pipeline& pipeline);

 private:
  void add_pool(Device& device, const Pipeline& pipeline);

  std::vector<DescriptorPoolHandle> pools_;
  Room left_{0, 0, 0};
  std::uint32_t next_sets_ = 32;
};

}  // namespace reprise::vulkan
