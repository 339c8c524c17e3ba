// Descriptor sets of one layout that outlive the encoding which took them: drivers allocate each
// set from the heap, so encodings hand them on instead. Sets come in blocks, one pool each.
#pragma once
#include <list>
#include <mutex>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"

namespace reprise::vulkan {

struct SetBlock {
  DescriptorPoolHandle pool;
  std::vector<VkDescriptorSet> sets;
};

/// All members may be called concurrently.
class SetCache {
 public:
  /// Must be called once, before take(). The layout must outlive the cache.
  void open(VkDescriptorSetLayout layout, std::uint32_t storage_count, std::uint32_t uniform_count);
  /// Appends an idle block, or a new one of `wanted` sets.
  void take(Device& device, std::uint32_t wanted, std::list<SetBlock>& to);
  /// No submission uses the sets any more. Never throws.
  void give(std::list<SetBlock>& blocks);

 private:
  SetBlock create(Device& device, std::uint32_t count) const;

  VkDescriptorSetLayout layout_ = VK_NULL_HANDLE;
  std::uint32_t storage_count_ = 0, uniform_count_ = 0;  // descriptors of one set
  std::mutex mutex_;
  std::list<SetBlock> idle_;
  std::size_t idle_sets_ = 0;
};

}  // namespace reprise::vulkan
