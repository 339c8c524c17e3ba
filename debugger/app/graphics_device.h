// The Vulkan device that draws the debugger; it is chosen for drawing and has nothing to do with
// the devices that sessions run on.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <vulkan/vulkan_raii.hpp>

namespace reprise::debugger {

struct GraphicsOptions {
  bool validation = false;  // with synchronization validation; messages are kept
  bool presents = false;    // to a window: enables VK_KHR_swapchain
  std::vector<const char*> instance_extensions;
  /// Whether a queue family can present; null: any.
  std::function<bool(VkInstance, VkPhysicalDevice, std::uint32_t family)> can_present;
};

/// What the validation layer said. Its address is known to the layer, which may call from any
/// thread. Outlives the device for those who hold it, so that it has what the layer said of the
/// device's end, such as objects that are left.
class ValidationLog {
 public:
  void add(std::string text);
  std::vector<std::string> messages() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

class GraphicsDevice {
 public:
  /// Throws Error(unsupported) if nothing can draw here.
  explicit GraphicsDevice(const GraphicsOptions& options);

  const vk::raii::Instance& instance() const { return instance_; }
  const vk::raii::PhysicalDevice& physical() const { return physical_; }
  const vk::raii::Device& device() const { return device_; }
  const vk::raii::Queue& queue() const { return queue_; }
  std::uint32_t queue_family() const { return family_; }
  vk::raii::CommandBuffer new_command_buffer() const;
  /// Submits commands and waits for them.
  void run(const std::function<void(const vk::raii::CommandBuffer&)>& record) const;
  vk::raii::DeviceMemory memory_for(const vk::MemoryRequirements& needs,
                                    vk::MemoryPropertyFlags properties) const;
  /// Empty without validation.
  std::shared_ptr<const ValidationLog> log() const { return log_; }

 private:
  static VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                VkDebugUtilsMessageTypeFlagsEXT types,
                                                const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                void* log);

  std::shared_ptr<ValidationLog> log_ = std::make_shared<ValidationLog>();
  vk::raii::Context context_;
  vk::raii::Instance instance_;
  vk::raii::DebugUtilsMessengerEXT messenger_ = nullptr;
  vk::raii::PhysicalDevice physical_ = nullptr;
  std::uint32_t family_ = 0;
  vk::raii::Device device_ = nullptr;
  vk::raii::Queue queue_ = nullptr;
  vk::raii::CommandPool pool_ = nullptr;
};

}  // namespace reprise::debugger
