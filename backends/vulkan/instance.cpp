#include "backends/vulkan/instance.h"

#include <algorithm>
#include <string>
#include <vector>

#include "backends/vulkan/result.h"

namespace reprise::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

bool has_debug_utils_extension() {
  std::uint32_t count = 0;
  check(vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr),
        "vkEnumerateInstanceExtensionProperties");
  std::vector<VkExtensionProperties> extensions(count);
  check(vkEnumerateInstanceExtensionProperties(nullptr, &count, extensions.data()),
        "vkEnumerateInstanceExtensionProperties");
  return std::ranges::any_of(extensions, [](const VkExtensionProperties& e) {
    return std::string_view(e.extensionName) == VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  });
}

void require_validation_layer() {
  std::uint32_t count = 0;
  check(vkEnumerateInstanceLayerProperties(&count, nullptr), "vkEnumerateInstanceLayerProperties");
  std::vector<VkLayerProperties> layers(count);
  check(vkEnumerateInstanceLayerProperties(&count, layers.data()),
        "vkEnumerateInstanceLayerProperties");
  const bool found = std::ranges::any_of(layers, [](const VkLayerProperties& layer) {
    return std::string_view(layer.layerName) == kValidationLayer;
  });
  if (!found) {
    throw_error(ErrorCode::unsupported, "Validation needs the layer (", kValidationLayer,
                "), which is not installed.");
  }
}

constexpr VkApplicationInfo kApplication{
    VK_STRUCTURE_TYPE_APPLICATION_INFO, nullptr, "reprise", 0, "reprise", 0, VK_API_VERSION_1_3};

/// Makes an instance that lives as long as the process: while there is one, no driver is unloaded.
/// NVIDIA's (580) fails to load a second time within some processes, and for good after 15 times.
void keep_drivers_loaded() {
  static const VkInstance kept = [] {
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &kApplication;
    VkInstance instance = VK_NULL_HANDLE;
    static_cast<void>(vkCreateInstance(&info, nullptr, &instance));  // others say why it fails
    return instance;
  }();
  static_cast<void>(kept);
}

std::string_view view_of(const char* text) { return text == nullptr ? "" : text; }

LogLevel level_of(VkDebugUtilsMessageSeverityFlagBitsEXT severity) {
  return severity == VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT ? LogLevel::error
                                                                   : LogLevel::warning;
}

}  // namespace

Instance::Instance(bool validation, LogCallback log) : log_(std::move(log)) {
  std::uint32_t version = 0;
  check(vkEnumerateInstanceVersion(&version), "vkEnumerateInstanceVersion");
  if (version < VK_API_VERSION_1_3) {
    throw error_of(VK_ERROR_INCOMPATIBLE_DRIVER, "vkEnumerateInstanceVersion");
  }
  if (validation) {
    require_validation_layer();
    messages_ = std::make_shared<DriverMessages>();
  }
  debug_utils_ = validation || has_debug_utils_extension();
  keep_drivers_loaded();

  const VkValidationFeatureEnableEXT synchronization =
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
  const VkValidationFeaturesEXT features{
      VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, &messenger, 1, &synchronization, 0, nullptr};
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                  validation ? &features : nullptr,
                                  0,
                                  &kApplication,
                                  validation ? 1U : 0U,
                                  &kValidationLayer,
                                  debug_utils_ ? 1U : 0U,
                                  &extension};
  check(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
  if (validation) {
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkCreateDebugUtilsMessengerEXT"));
    const VkResult result = create(instance_, &messenger, nullptr, &messenger_);
    if (result != VK_SUCCESS) {
      vkDestroyInstance(instance_, nullptr);
      throw error_of(result, "vkCreateDebugUtilsMessengerEXT");
    }
  }
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(instance_, messenger_, nullptr);
  }
  vkDestroyInstance(instance_, nullptr);
}

VkDebugUtilsMessengerCreateInfoEXT Instance::messenger_info() {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  info.pUserData = this;
  info.pfnUserCallback =
      [](VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
         const VkDebugUtilsMessengerCallbackDataEXT* data, void* self) -> VkBool32 {
    static_cast<Instance*>(self)->receive(severity, types, *data);
    return VK_FALSE;
  };
  return info;
}

void Instance::receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                       VkDebugUtilsMessageTypeFlagsEXT types,
                       const VkDebugUtilsMessengerCallbackDataEXT& data) noexcept {
  // General messages are the loader's, about drivers whose hardware is absent.
  const VkDebugUtilsMessageTypeFlagsEXT general = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
  const bool counted = (types & ~general) != 0;
  const std::string_view text = view_of(data.pMessage);
  if (counted) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  try {
    if (counted) {
      messages_->send({level_of(severity), view_of(data.pMessageIdName), text});
    }
    if (log_) {
      log_(counted ? level_of(severity) : LogLevel::info, text);
    }
  } catch (...) {  // must not unwind through the driver
  }
}

}  // namespace reprise::vulkan
