// Descriptor sets of one layout that outlive the encoding which took them: drivers allocate each
// set from the heap, so encodings hand them on instead. Sets come in blocks, one pool each.
#pragma once
#include <array>
#include <list>
#include <mutex>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "reprise/backend/shader_interface.h"

namespace reprise::vulkan {

/// What a set is filled with, by the kind of the binding.
union Descriptor {
  VkDescriptorBufferInfo range;
  VkBufferView texels;
};

/// Descriptors of one set, by ShaderBindingKind.
inline constexpr std::size_t kDescriptorKinds = 3;
using DescriptorCounts = std::array<std::uint32_t, kDescriptorKinds>;

constexpr VkDescriptorType descriptor_type(ShaderBindingKind kind) {
  constexpr std::array<VkDescriptorType, kDescriptorKinds> kTypes{
      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
      VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER};
  return kTypes[static_cast<std::size_t>(kind)];
}

struct SetBlock {
  DescriptorPoolHandle pool;
  std::vector<VkDescriptorSet> sets;
};

/// All members may be called concurrently.
class SetCache {
 public:
  /// Must be called once, before take(). The layout must outlive the cache.
  void open(VkDescriptorSetLayout layout, const DescriptorCounts& counts);
  /// Appends an idle block, or a new one of `wanted` sets.
  void take(Device& device, std::uint32_t wanted, std::list<SetBlock>& to);
  /// No submission uses the sets any more. Never throws.
  void give(std::list<SetBlock>& blocks);
  /// Frees the idle blocks.
  void trim();

 private:
  SetBlock create(Device& device, std::uint32_t count) const;

  VkDescriptorSetLayout layout_ = VK_NULL_HANDLE;
  DescriptorCounts counts_{};
  std::mutex mutex_;
  std::list<SetBlock> idle_;
  std::size_t idle_sets_ = 0;
};

}  // namespace reprise::vulkan
