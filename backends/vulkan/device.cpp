#include "backends/vulkan/device.h"

#include <algorithm>
#include <array>
#include <vector>

#include "backends/vulkan/command_pools.h"
#include "backends/vulkan/kernel_families.h"
#include "backends/vulkan/limits.h"
#include "backends/vulkan/result.h"

namespace reprise::vulkan {
namespace {

using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;

VkBool32 flag(bool wanted) { return wanted ? VK_TRUE : VK_FALSE; }

template <class F>
F entry_point(VkDevice device, const char* name) {
  return reinterpret_cast<F>(vkGetDeviceProcAddr(device, name));
}

}  // namespace

Device::Device(std::shared_ptr<const Instance> instance, const PhysicalDevice& physical,
               const OpenOptions& options)
    : instance_(std::move(instance)),
      physical_(lowered(physical, options.limits)),
      info_(info_of(physical_)),
      traits_(traits_of(physical_)),
      hang_timeout_(options.hang_timeout),
      map_device_memory_(options.map_device_memory),
      life_(std::make_shared<DeviceLife>(info_.name)),
      memory_(std::make_shared<MemoryAccount>(heaps_of(physical_), options.memory_budget,
                                              options.on_memory_pressure,
                                              limits().maxMemoryAllocationCount)) {
  if (options.kernels) {
    require_kernels(physical_, *options.kernels);
    traits_.kernels = *options.kernels;
  }
  traits_.replays = options.replays;
  traits_.max_binding_bytes = largest_binding(physical_, traits_.kernels);
  capabilities_ = capabilities_of(physical_, traits_);
  capabilities_.maps_device_memory = map_device_memory_ && shares_memory(physical_);
  // The layer (1.3.239) takes accesses of two queues for racing that a timeline semaphore orders.
  physical_.queue_count = options.validation ? 1 : std::min(physical_.queue_count, 2U);
  capabilities_.reads_beside_work = capabilities_.maps_device_memory || physical_.queue_count > 1;
  if (hang_timeout_.count() <= 0) {
    hang_timeout_ = traits_.cpu_type ? std::chrono::milliseconds(10min) : 60s;
  }
  constexpr std::chrono::hours kYear{365 * 24};  // the longest ones are too many nanoseconds
  hang_timeout_ = std::min<std::chrono::milliseconds>(hang_timeout_, kYear);
  const OptionalFeatures& f = physical_.features;
  VkPhysicalDeviceVulkan13Features f13{};
  f13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  f13.synchronization2 = VK_TRUE;
  f13.maintenance4 = VK_TRUE;  // LocalSizeId, which SPIR-V 1.6 compilers emit
  f13.shaderZeroInitializeWorkgroupMemory = flag(f.zero_initialize_workgroup);
  VkPhysicalDeviceVulkan12Features f12{};
  f12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  f12.pNext = &f13;
  f12.timelineSemaphore = VK_TRUE;
  f12.storageBuffer8BitAccess = flag(f.storage_8bit);
  f12.shaderFloat16 = flag(f.shader_float16);
  f12.shaderInt8 = flag(f.shader_int8);
  f12.shaderSubgroupExtendedTypes = flag(f.subgroup_extended_types);
  f12.subgroupBroadcastDynamicId = flag(f.subgroup_broadcast_dynamic_id);
  VkPhysicalDeviceVulkan11Features f11{};
  f11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  f11.pNext = &f12;
  f11.storageBuffer16BitAccess = flag(f.storage_16bit);
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f11, {}};
  all.features.shaderInt16 = flag(f.shader_int16);
  all.features.shaderInt64 = flag(f.shader_int64);
  create(all);
}

void Device::create(const VkPhysicalDeviceFeatures2& features) {
  const std::array priorities{1.0F, 1.0F};
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = physical_.queue_family;
  queue.queueCount = physical_.queue_count;
  queue.pQueuePriorities = priorities.data();
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  const bool imports = physical_.import_alignment != 0;
  std::vector<const char*> extensions;
  if (imports) {
    extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  }
  if (physical_.tells_memory_budget) {
    extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  }
  if (physical_.calibrates_clocks) {
    extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  }
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  vulkan::check(vkCreateDevice(physical_.handle, &info, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, physical_.queue_family, 0, &queue_);
  if (queue.queueCount > 1) {
    vkGetDeviceQueue(device_, physical_.queue_family, 1, &read_queue_);
  }
  command_pools_ = std::make_unique<CommandPools>(physical_.queue_family);
  if (physical_.calibrates_clocks) {
    clock_ = CalibratedClock(device_);
  }
  if (imports) {
    host_pointer_properties_ = entry_point<PFN_vkGetMemoryHostPointerPropertiesEXT>(
        device_, "vkGetMemoryHostPointerPropertiesEXT");
  }
  if (instance_->has_debug_utils()) {
    debug_.begin_label =
        entry_point<PFN_vkCmdBeginDebugUtilsLabelEXT>(device_, "vkCmdBeginDebugUtilsLabelEXT");
    debug_.end_label =
        entry_point<PFN_vkCmdEndDebugUtilsLabelEXT>(device_, "vkCmdEndDebugUtilsLabelEXT");
    debug_.set_name =
        entry_point<PFN_vkSetDebugUtilsObjectNameEXT>(device_, "vkSetDebugUtilsObjectNameEXT");
  }
}

Device::~Device() {
  command_pools_.reset();
  vkDestroyDevice(device_, nullptr);
}

bool Device::maps(std::uint32_t memory_type) const {
  return map_device_memory_ && is_shared(physical_, memory_type);
}

void Device::check(VkResult result, std::string_view call) {
  if (result == VK_SUCCESS) {
    return;
  }
  const Error error = error_of(result, call);
  life_->note(error);
  if (error.code() == ErrorCode::device_lost) {
    life_->lose(error.what());
  }
  throw error;
}

MemoryInfo Device::memory_info() const {
  MemoryInfo info = memory_->info();
  add_driver_budget(physical_, info.heaps);
  return info;
}

void Device::name_object(VkObjectType type, std::uint64_t object, const std::string& name) const {
  const VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                           nullptr, type, object, name.c_str()};
  debug_.set_name(device_, &info);  // a name that did not stick costs only readability
}

}  // namespace reprise::vulkan
