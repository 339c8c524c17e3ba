// A Vulkan object with one owner, destroyed with it. The VkDevice must outlive the handle: holders
// keep a shared_ptr<Device> declared before their handles.
#pragma once
#include <utility>

#include <vulkan/vulkan.h>

namespace reprise::vulkan {

template <class T, auto kDestroy>
class Handle {
 public:
  Handle() = default;
  Handle(VkDevice device, T object) : device_(device), object_(object) {}
  Handle(Handle&& other) noexcept
      : device_(other.device_), object_(std::exchange(other.object_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() { destroy(); }
  void destroy() {
    if (object_ != T{}) {
      kDestroy(device_, std::exchange(object_, T{}), nullptr);
    }
  }
  T get() const { return object_; }
  /// Nobody destroys it any more.
  void release() { object_ = T{}; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  T object_{};
};

using BufferHandle = Handle<VkBuffer, vkDestroyBuffer>;
using BufferViewHandle = Handle<VkBufferView, vkDestroyBufferView>;
using MemoryHandle = Handle<VkDeviceMemory, vkFreeMemory>;
using SemaphoreHandle = Handle<VkSemaphore, vkDestroySemaphore>;
using ShaderModuleHandle = Handle<VkShaderModule, vkDestroyShaderModule>;
using SetLayoutHandle = Handle<VkDescriptorSetLayout, vkDestroyDescriptorSetLayout>;
using PipelineLayoutHandle = Handle<VkPipelineLayout, vkDestroyPipelineLayout>;
using PipelineHandle = Handle<VkPipeline, vkDestroyPipeline>;
using PipelineCacheHandle = Handle<VkPipelineCache, vkDestroyPipelineCache>;
using DescriptorPoolHandle = Handle<VkDescriptorPool, vkDestroyDescriptorPool>;
using UpdateTemplateHandle = Handle<VkDescriptorUpdateTemplate, vkDestroyDescriptorUpdateTemplate>;
using QueryPoolHandle = Handle<VkQueryPool, vkDestroyQueryPool>;

}  // namespace reprise::vulkan
