#include "backends/vulkan/set_cache.h"

#include <iterator>

namespace reprise::vulkan {
namespace {

// Idle sets beyond are freed: after one very large recording its sets would stay for ever.
constexpr std::size_t kMaxIdleSets = 16384;

}  // namespace

void SetCache::open(VkDescriptorSetLayout layout, const DescriptorCounts& counts) {
  layout_ = layout;
  counts_ = counts;
}

void SetCache::take(Device& device, std::uint32_t wanted, std::list<SetBlock>& to) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      idle_sets_ -= idle_.back().sets.size();
      to.splice(to.end(), idle_, std::prev(idle_.end()));
      return;
    }
  }
  to.push_back(create(device, wanted));
}

void SetCache::give(std::list<SetBlock>& blocks) {
  const std::lock_guard lock(mutex_);
  while (!blocks.empty() && idle_sets_ + blocks.front().sets.size() <= kMaxIdleSets) {
    idle_sets_ += blocks.front().sets.size();
    idle_.splice(idle_.end(), blocks, blocks.begin());
  }
}

void SetCache::trim() {
  std::list<SetBlock> freed;
  const std::lock_guard lock(mutex_);
  freed.splice(freed.end(), idle_);
  idle_sets_ = 0;
}

SetBlock SetCache::create(Device& device, std::uint32_t count) const {
  std::array<VkDescriptorPoolSize, kDescriptorKinds> sizes{};
  std::uint32_t kinds = 0;
  for (std::size_t kind = 0; kind < kDescriptorKinds; ++kind) {
    if (counts_[kind] != 0) {
      sizes[kinds++] = {descriptor_type(static_cast<ShaderBindingKind>(kind)),
                        count * counts_[kind]};
    }
  }
  VkDescriptorPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = count;
  pool_info.poolSizeCount = kinds;
  pool_info.pPoolSizes = sizes.data();
  VkDescriptorPool pool = VK_NULL_HANDLE;
  device.check(vkCreateDescriptorPool(device.get(), &pool_info, nullptr, &pool),
               "vkCreateDescriptorPool");
  SetBlock block{{device.get(), pool}, std::vector<VkDescriptorSet>(count)};
  const std::vector<VkDescriptorSetLayout> layouts(count, layout_);
  const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr,
                                         pool, count, layouts.data()};
  device.check(vkAllocateDescriptorSets(device.get(), &info, block.sets.data()),
               "vkAllocateDescriptorSets");
  return block;
}

}  // namespace reprise::vulkan
