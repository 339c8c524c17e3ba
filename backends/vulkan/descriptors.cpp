#include "backends/vulkan/descriptors.h"

#include <algorithm>
#include <array>

namespace reprise::vulkan {
namespace {

// A guess at buffers per dispatch; a kernel with more only starts the next pool earlier.
constexpr std::uint32_t kStoragePerSet = 5;
constexpr std::uint32_t kMaxSetsPerPool = 2048;

}  // namespace

VkDescriptorSet Descriptors::allocate(Device& device, const Pipeline& pipeline) {
  if (left_.sets == 0 || left_.storage < pipeline.storage_count ||
      left_.uniform < pipeline.uniform_count) {
    add_pool(device, pipeline);
  }
  const VkDescriptorSetLayout layout = pipeline.set_layout.get();
  const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr,
                                         pools_.back().get(), 1, &layout};
  VkDescriptorSet set = VK_NULL_HANDLE;
  device.check(vkAllocateDescriptorSets(device.get(), &info, &set), "vkAllocateDescriptorSets");
  --left_.sets;
  left_.storage -= pipeline.storage_count;
  left_.uniform -= pipeline.uniform_count;
  return set;
}

void Descriptors::add_pool(Device& device, const Pipeline& pipeline) {
  const Room room{next_sets_, std::max(next_sets_ * kStoragePerSet, pipeline.storage_count),
                  std::max(next_sets_, pipeline.uniform_count)};
  const std::array<VkDescriptorPoolSize, 2> sizes{
      {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, room.storage},
       {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, room.uniform}}};
  VkDescriptorPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  info.maxSets = room.sets;
  info.poolSizeCount = static_cast<std::uint32_t>(sizes.size());
  info.pPoolSizes = sizes.data();
  VkDescriptorPool pool = VK_NULL_HANDLE;
  device.check(vkCreateDescriptorPool(device.get(), &info, nullptr, &pool),
               "vkCreateDescriptorPool");
  pools_.emplace_back(device.get(), pool);
  left_ = room;
  next_sets_ = std::min(next_sets_ * 2, kMaxSetsPerPool);
}

}  // namespace reprise::vulkan
