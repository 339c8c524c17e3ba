// One VkInstance per opened device: it carries that device's validation and log callback.
// The layer's queue-submit validation has no switch in the API of this version; who wants it sets
// VK_LAYER_ENABLES=VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT before opening.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include <vulkan/vulkan.h>

#include "reprise/backend/backend.h"

namespace reprise::vulkan {

/// All const members may be called concurrently.
class Instance {
 public:
  /// Throws unsupported without a Vulkan 1.3 loader, or if the validation layer is not installed.
  Instance(bool validation, LogCallback log);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  VkInstance get() const { return instance_; }
  bool has_debug_utils() const { return debug_utils_; }
  std::uint64_t message_count() const { return count_.load(std::memory_order_relaxed); }
  /// Of the messages that are counted; null without validation.
  const std::shared_ptr<DriverMessages>& messages() const { return messages_; }

 private:
  VkDebugUtilsMessengerCreateInfoEXT messenger_info();
  void receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
               VkDebugUtilsMessageTypeFlagsEXT types,
               const VkDebugUtilsMessengerCallbackDataEXT& data) noexcept;

  LogCallback log_;
  std::shared_ptr<DriverMessages> messages_;
  std::atomic<std::uint64_t> count_{0};
  bool debug_utils_ = false;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

}  // namespace reprise::vulkan
