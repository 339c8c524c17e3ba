#include "debugger/app/graphics_device.h"

#include <array>
#include <optional>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

vk::raii::Instance make_instance(const vk::raii::Context& context, const GraphicsOptions& options) {
  const vk::ApplicationInfo application("reprise-debugger", 0, nullptr, 0, VK_API_VERSION_1_1);
  std::vector<const char*> layers;
  std::vector<const char*> extensions = options.instance_extensions;
  const std::array enables{vk::ValidationFeatureEnableEXT::eSynchronizationValidation};
  const vk::ValidationFeaturesEXT features(enables);
  if (options.validation) {
    layers.push_back(kValidationLayer);
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  }
  try {
    return {context, vk::InstanceCreateInfo({}, &application, layers, extensions,
                                            options.validation ? &features : nullptr)};
  } catch (const vk::SystemError& e) {
    throw_error(ErrorCode::unsupported, "Drawing needs a Vulkan driver; none could be loaded (",
                e.what(), "). Debian's software driver is mesa-vulkan-drivers.");
  }
}

/// Smaller is better.
int rank(const vk::raii::PhysicalDevice& device) {
  switch (device.getProperties().deviceType) {
    case vk::PhysicalDeviceType::eDiscreteGpu:
      return 0;
    case vk::PhysicalDeviceType::eIntegratedGpu:
      return 1;
    case vk::PhysicalDeviceType::eVirtualGpu:
      return 2;
    default:
      return 3;
  }
}

bool has_swapchain(const vk::raii::PhysicalDevice& device) {
  for (const vk::ExtensionProperties& extension : device.enumerateDeviceExtensionProperties()) {
    if (std::string_view(extension.extensionName) == VK_KHR_SWAPCHAIN_EXTENSION_NAME) {
      return true;
    }
  }
  return false;
}

std::optional<std::uint32_t> drawing_family(const vk::raii::Instance& instance,
                                            const vk::raii::PhysicalDevice& device,
                                            const GraphicsOptions& options) {
  if (options.presents && !has_swapchain(device)) {
    return std::nullopt;
  }
  const std::vector<vk::QueueFamilyProperties> families = device.getQueueFamilyProperties();
  for (std::uint32_t family = 0; family < families.size(); ++family) {
    const bool draws =
        static_cast<bool>(families[family].queueFlags & vk::QueueFlagBits::eGraphics);
    if (draws && (!options.can_present || options.can_present(*instance, *device, family))) {
      return family;
    }
  }
  return std::nullopt;
}

}  // namespace

void ValidationLog::add(std::string text) {
  const std::scoped_lock lock(mutex_);
  texts_.push_back(std::move(text));
}

std::vector<std::string> ValidationLog::messages() const {
  const std::scoped_lock lock(mutex_);
  return texts_;
}

GraphicsDevice::GraphicsDevice(const GraphicsOptions& options)
    : instance_(make_instance(context_, options)) {
  if (options.validation) {
    using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
    using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
    messenger_ = {instance_, vk::DebugUtilsMessengerCreateInfoEXT(
                                 {}, Severity::eWarning | Severity::eError,
                                 Type::eGeneral | Type::eValidation | Type::ePerformance, receive,
                                 log_.get())};
  }
  for (vk::raii::PhysicalDevice& candidate : vk::raii::PhysicalDevices(instance_)) {
    const std::optional<std::uint32_t> family = drawing_family(instance_, candidate, options);
    if (family && (*physical_ == vk::PhysicalDevice() || rank(candidate) < rank(physical_))) {
      physical_ = std::move(candidate);
      family_ = *family;
    }
  }
  if (*physical_ == vk::PhysicalDevice()) {
    throw Error(ErrorCode::unsupported,
                options.presents
                    ? "No Vulkan device can draw into this window: none has a graphics queue that "
                      "presents to it."
                    : "No Vulkan device can draw: none has a graphics queue.");
  }
  const float priority = 1;
  const vk::DeviceQueueCreateInfo queue({}, family_, 1, &priority);
  std::vector<const char*> extensions;
  if (options.presents) {
    extensions.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  }
  device_ = {physical_, vk::DeviceCreateInfo({}, queue, {}, extensions)};
  queue_ = {device_, family_, 0};
  pool_ = {device_,
           vk::CommandPoolCreateInfo(vk::CommandPoolCreateFlagBits::eResetCommandBuffer, family_)};
}

VkBool32 GraphicsDevice::receive(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                 const VkDebugUtilsMessengerCallbackDataEXT* data, void* log) {
  // General messages are the loader's, about drivers whose hardware is absent.
  const VkDebugUtilsMessageTypeFlagsEXT general = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
  if ((types & ~general) != 0) {
    static_cast<ValidationLog*>(log)->add(data->pMessage);
  }
  return VK_FALSE;
}

vk::raii::CommandBuffer GraphicsDevice::new_command_buffer() const {
  return std::move(
      vk::raii::CommandBuffers(
          device_, vk::CommandBufferAllocateInfo(*pool_, vk::CommandBufferLevel::ePrimary, 1))
          .front());
}

void GraphicsDevice::run(const std::function<void(const vk::raii::CommandBuffer&)>& record) const {
  const vk::raii::CommandBuffer commands = new_command_buffer();
  commands.begin({vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
  record(commands);
  commands.end();
  queue_.submit(vk::SubmitInfo({}, {}, *commands));
  queue_.waitIdle();
}

vk::raii::DeviceMemory GraphicsDevice::memory_for(const vk::MemoryRequirements& needs,
                                                  vk::MemoryPropertyFlags properties) const {
  const vk::PhysicalDeviceMemoryProperties memory = physical_.getMemoryProperties();
  for (std::uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
    const bool fits = (memory.memoryTypes[type].propertyFlags & properties) == properties;
    if (fits && (needs.memoryTypeBits & (1U << type)) != 0) {
      return {device_, vk::MemoryAllocateInfo(needs.size, type)};
    }
  }
  throw_error(ErrorCode::unsupported, "The device that draws has no memory of the kind (",
              vk::to_string(properties), ").");
}

}  // namespace reprise::debugger
