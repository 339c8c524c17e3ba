// The opened VkDevice with its queue and facts. Buffers, encodings and timestamps share it, so
// they may outlive the backend. A lost device is poisoned: later calls fail fast and name the first
// failure.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <vulkan/vulkan.h>

#include "backends/vulkan/calibrated_clock.h"
#include "backends/vulkan/instance.h"
#include "backends/vulkan/physical_device.h"
#include "reprise/backend/device_life.h"
#include "reprise/core/open_options.h"

namespace reprise::vulkan {

class CommandPools;

/// Entry points of VK_EXT_debug_utils, all null without it.
struct DebugFunctions {
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT end_label = nullptr;
  PFN_vkSetDebugUtilsObjectNameEXT set_name = nullptr;
};

/// All members may be called concurrently.
class Device {
 public:
  Device(std::shared_ptr<const Instance> instance, const PhysicalDevice& physical,
         const OpenOptions& options);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  VkDevice get() const { return device_; }
  VkQueue queue() const { return queue_; }
  /// Another one of its family; null if there is none.
  VkQueue read_queue() const { return read_queue_; }
  const Instance& instance() const { return *instance_; }
  const PhysicalDevice& physical() const { return physical_; }
  const VkPhysicalDeviceLimits& limits() const { return physical_.properties.limits; }
  const DeviceInfo& info() const { return info_; }
  const DeviceTraits& traits() const { return traits_; }
  const BackendCapabilities& capabilities() const { return capabilities_; }
  const std::shared_ptr<DeviceLife>& life() const { return life_; }
  const std::shared_ptr<MemoryAccount>& memory() const { return memory_; }
  /// With what the driver says now.
  MemoryInfo memory_info() const;
  const DebugFunctions& debug() const { return debug_; }
  /// Null unless PhysicalDevice::import_alignment is set.
  PFN_vkGetMemoryHostPointerPropertiesEXT host_pointer_properties() const {
    return host_pointer_properties_;
  }
  std::chrono::milliseconds hang_timeout() const { return hang_timeout_; }
  CommandPools& command_pools() { return *command_pools_; }

  /// Whether device memory of this type is mapped: it is the host's memory too.
  bool maps(std::uint32_t memory_type) const;
  std::optional<ClockSample> clock() const { return clock_.sample(); }

  /// As vulkan::check, and poisons the device if it is lost.
  void check(VkResult result, std::string_view call);
  /// See DeviceLife.
  void require_alive() const { life_->require_alive(); }
  void require_ready() const { life_->require_ready(); }

  /// For validation messages and graphics debuggers.
  template <class T>
  void set_name(VkObjectType type, T object, const std::string& name) const {
    if (debug_.set_name != nullptr && !name.empty()) {
      name_object(type, (std::uint64_t)object, name);  // a pointer or an integer by platform
    }
  }

 private:
  void create(const VkPhysicalDeviceFeatures2& features);
  void name_object(VkObjectType type, std::uint64_t object, const std::string& name) const;

  std::shared_ptr<const Instance> instance_;
  PhysicalDevice physical_;
  DeviceInfo info_;
  DeviceTraits traits_;
  BackendCapabilities capabilities_;
  std::chrono::milliseconds hang_timeout_;
  bool map_device_memory_;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE, read_queue_ = VK_NULL_HANDLE;
  std::unique_ptr<CommandPools> command_pools_;
  DebugFunctions debug_;
  PFN_vkGetMemoryHostPointerPropertiesEXT host_pointer_properties_ = nullptr;
  CalibratedClock clock_;
  std::shared_ptr<DeviceLife> life_;
  std::shared_ptr<MemoryAccount> memory_;
};

}  // namespace reprise::vulkan
