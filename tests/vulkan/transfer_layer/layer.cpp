// A Vulkan layer that gives every device a queue for transfers (transfer_layer.h). It lies below
// the validation layer, which so judges a program by two queues of two families: command pools,
// sharing of buffers, what may be recorded for a queue that only copies. Below this layer there is
// the one queue of the driver again.
#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "tests/vulkan/transfer_layer/scheduler.h"

namespace reprise::transfer_layer {
namespace {

// The loader's table: see the fault layer.
using Key = const void*;
template <class Handle>
Key key_of(Handle handle) {
  return *reinterpret_cast<const void* const*>(handle);
}

template <class Function>
Function as(PFN_vkVoidFunction function) {
  return reinterpret_cast<Function>(function);
}

struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  PFN_vkGetInstanceProcAddr next = nullptr;
  // Asked for once, as in the fault layer: later the answer is the top of the chain.
  PFN_vkDestroyInstance destroy = nullptr;
  PFN_vkGetPhysicalDeviceQueueFamilyProperties families = nullptr;
};

/// What a program takes for a VkQueue: the loader and the layers look at its first word alone.
struct SecondQueue {
  Key loader_table;
};

struct Device {
  VkDevice handle;
  PFN_vkGetDeviceProcAddr next;
  std::uint32_t real_family, second_family;
  SecondQueue second;
  Scheduler scheduler;
  VkQueue second_queue() { return reinterpret_cast<VkQueue>(&second); }
  template <class Function>
  Function find(const char* name) const {
    return as<Function>(next(handle, name));
  }
};

struct State {
  std::mutex mutex;
  std::map<Key, Instance> instances;
  std::map<Key, std::unique_ptr<Device>> devices;
};

State& state() {
  static State all;
  return all;
}

template <class Handle>
Instance instance_of(Handle handle) {
  const std::lock_guard lock(state().mutex);
  return state().instances.at(key_of(handle));
}

template <class Handle>
Device& device_of(Handle handle) {
  const std::lock_guard lock(state().mutex);
  return *state().devices.at(key_of(handle));
}

template <class Link, class Info>
auto* take_link(const Info* info, VkStructureType type) {
  auto* link = static_cast<Link*>(const_cast<void*>(info->pNext));
  while (link->sType != type || link->function != VK_LAYER_LINK_INFO) {
    link = static_cast<Link*>(const_cast<void*>(link->pNext));
  }
  auto* mine = link->u.pLayerInfo;
  link->u.pLayerInfo = mine->pNext;
  return mine;
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* allocator,
                                               VkInstance* instance) {
  const auto next =
      take_link<VkLayerInstanceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO)
          ->pfnNextGetInstanceProcAddr;
  const VkResult result =
      as<PFN_vkCreateInstance>(next(nullptr, "vkCreateInstance"))(info, allocator, instance);
  if (result == VK_SUCCESS) {
    const std::lock_guard lock(state().mutex);
    state().instances.insert_or_assign(
        key_of(*instance),
        Instance{*instance, next, as<PFN_vkDestroyInstance>(next(*instance, "vkDestroyInstance")),
                 as<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
                     next(*instance, "vkGetPhysicalDeviceQueueFamilyProperties"))});
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                            const VkAllocationCallbacks* allocator) {
  if (instance == VK_NULL_HANDLE) {
    return;
  }
  const Key key = key_of(instance);
  instance_of(instance).destroy(instance, allocator);
  const std::lock_guard lock(state().mutex);
  state().instances.erase(key);
}

std::vector<VkQueueFamilyProperties> real_families(VkPhysicalDevice physical) {
  const auto ask = instance_of(physical).families;
  std::uint32_t count = 0;
  ask(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  ask(physical, &count, families.data());
  return families;
}

/// One more than the driver has.
std::vector<VkQueueFamilyProperties> all_families(VkPhysicalDevice physical) {
  std::vector<VkQueueFamilyProperties> families = real_families(physical);
  families.push_back({VK_QUEUE_TRANSFER_BIT, 1, 0, {16, 16, 8}});
  return families;
}

VKAPI_ATTR void VKAPI_CALL families(VkPhysicalDevice physical, std::uint32_t* count,
                                    VkQueueFamilyProperties* properties) {
  const auto all = all_families(physical);
  const auto size = static_cast<std::uint32_t>(all.size());
  *count = properties == nullptr ? size : std::min(*count, size);
  if (properties != nullptr) {
    std::copy_n(all.begin(), *count, properties);
  }
}

VKAPI_ATTR void VKAPI_CALL families2(VkPhysicalDevice physical, std::uint32_t* count,
                                     VkQueueFamilyProperties2* properties) {
  const auto all = all_families(physical);
  const auto size = static_cast<std::uint32_t>(all.size());
  *count = properties == nullptr ? size : std::min(*count, size);
  for (std::uint32_t i = 0; properties != nullptr && i < *count; ++i) {
    properties[i].queueFamilyProperties = all[i];
  }
}

std::uint32_t computing_family(VkPhysicalDevice physical) {
  const auto real = real_families(physical);
  const auto found = std::ranges::find_if(
      real, [](const auto& f) { return (f.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0; });
  return static_cast<std::uint32_t>(found - real.begin());
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                             const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkDevice* device) {
  const auto* link =
      take_link<VkLayerDeviceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  const auto next = link->pfnNextGetDeviceProcAddr;
  const auto create = as<PFN_vkCreateDevice>(
      link->pfnNextGetInstanceProcAddr(instance_of(physical).handle, "vkCreateDevice"));
  const auto second = static_cast<std::uint32_t>(real_families(physical).size());
  std::vector<VkDeviceQueueCreateInfo> queues(info->pQueueCreateInfos,
                                              info->pQueueCreateInfos + info->queueCreateInfoCount);
  std::erase_if(queues, [&](const auto& queue) { return queue.queueFamilyIndex == second; });
  VkDeviceCreateInfo real = *info;
  real.queueCreateInfoCount = static_cast<std::uint32_t>(queues.size());
  real.pQueueCreateInfos = queues.data();
  const VkResult result = create(physical, &real, allocator, device);
  if (result != VK_SUCCESS) {
    return result;
  }
  const std::uint32_t family = computing_family(physical);
  const auto find = [&](const char* name) { return next(*device, name); };
  Driver driver{*device, VK_NULL_HANDLE, as<PFN_vkQueueSubmit2>(find("vkQueueSubmit2")),
                as<PFN_vkGetSemaphoreCounterValue>(find("vkGetSemaphoreCounterValue"))};
  as<PFN_vkGetDeviceQueue>(find("vkGetDeviceQueue"))(*device, family, 0, &driver.queue);
  const std::lock_guard lock(state().mutex);
  state().devices[key_of(*device)].reset(
      new Device{*device, next, family, second, {key_of(*device)}, Scheduler(driver)});
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks* allocator) {
  if (device == VK_NULL_HANDLE) {
    return;
  }
  const Key key = key_of(device);
  device_of(device).find<PFN_vkDestroyDevice>("vkDestroyDevice")(device, allocator);
  const std::lock_guard lock(state().mutex);
  state().devices.erase(key);
}

VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, std::uint32_t family, std::uint32_t index,
                                     VkQueue* queue) {
  Device& of = device_of(device);
  if (family == of.second_family) {
    *queue = of.second_queue();
  } else {
    of.find<PFN_vkGetDeviceQueue>("vkGetDeviceQueue")(device, family, index, queue);
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                           const VkAllocationCallbacks* allocator,
                                           VkCommandPool* pool) {
  const Device& of = device_of(device);
  VkCommandPoolCreateInfo real = *info;
  real.queueFamilyIndex =
      info->queueFamilyIndex == of.second_family ? of.real_family : info->queueFamilyIndex;
  return of.find<PFN_vkCreateCommandPool>("vkCreateCommandPool")(device, &real, allocator, pool);
}

VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkBuffer* buffer) {
  VkBufferCreateInfo real = *info;
  real.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  real.queueFamilyIndexCount = 0;
  return device_of(device).find<PFN_vkCreateBuffer>("vkCreateBuffer")(device, &real, allocator,
                                                                      buffer);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, std::uint32_t count,
                                      const VkSubmitInfo2* infos, VkFence fence) {
  Device& of = device_of(queue);
  if (fence != VK_NULL_HANDLE) {
    return VK_ERROR_UNKNOWN;  // the backend has none
  }
  const auto which = queue == of.second_queue() ? Scheduler::transfer : Scheduler::compute;
  VkResult result = VK_SUCCESS;
  for (std::uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
    result = of.scheduler.submit(which, infos[i]);
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, const VkSemaphoreWaitInfo* info,
                                    std::uint64_t timeout) {
  Device& of = device_of(device);
  for (std::uint32_t i = 0; i < info->semaphoreCount; ++i) {
    const VkResult result = of.scheduler.want(info->pSemaphores[i], info->pValues[i]);
    if (result != VK_SUCCESS) {
      return result;
    }
  }
  return of.find<PFN_vkWaitSemaphores>("vkWaitSemaphores")(device, info, timeout);
}

VKAPI_ATTR VkResult VKAPI_CALL counter(VkDevice device, VkSemaphore semaphore,
                                       std::uint64_t* value) {
  Device& of = device_of(device);
  const VkResult result = of.scheduler.ask(semaphore);
  return result != VK_SUCCESS ? result
                              : of.find<PFN_vkGetSemaphoreCounterValue>(
                                    "vkGetSemaphoreCounterValue")(device, semaphore, value);
}

VKAPI_ATTR VkResult VKAPI_CALL signal(VkDevice device, const VkSemaphoreSignalInfo* info) {
  Device& of = device_of(device);
  const VkResult result = of.find<PFN_vkSignalSemaphore>("vkSignalSemaphore")(device, info);
  return result == VK_SUCCESS ? of.scheduler.go_on() : result;
}

VKAPI_ATTR void VKAPI_CALL destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                             const VkAllocationCallbacks* allocator) {
  Device& of = device_of(device);
  of.scheduler.forget(semaphore);
  of.find<PFN_vkDestroySemaphore>("vkDestroySemaphore")(device, semaphore, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL wait_idle(VkDevice device) {
  Device& of = device_of(device);
  const VkResult result = of.scheduler.finish();
  return result == VK_SUCCESS ? of.find<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle")(device) : result;
}

PFN_vkVoidFunction VKAPI_CALL find_of_instance(VkInstance instance, const char* name);
PFN_vkVoidFunction VKAPI_CALL find_of_device(VkDevice device, const char* name);

struct Intercepted {
  std::string_view name;
  PFN_vkVoidFunction function;
};

/// Null for calls that are not intercepted.
PFN_vkVoidFunction interceptor_of(std::string_view wanted) {
  const auto as_void = [](auto* function) {
    return reinterpret_cast<PFN_vkVoidFunction>(function);
  };
  static const Intercepted kAll[] = {
      {"vkCreateInstance", as_void(&create_instance)},
      {"vkDestroyInstance", as_void(&destroy_instance)},
      {"vkGetPhysicalDeviceQueueFamilyProperties", as_void(&families)},
      {"vkGetPhysicalDeviceQueueFamilyProperties2", as_void(&families2)},
      {"vkCreateDevice", as_void(&create_device)},
      {"vkDestroyDevice", as_void(&destroy_device)},
      {"vkGetDeviceQueue", as_void(&get_queue)},
      {"vkCreateCommandPool", as_void(&create_pool)},
      {"vkCreateBuffer", as_void(&create_buffer)},
      {"vkQueueSubmit2", as_void(&submit)},
      {"vkWaitSemaphores", as_void(&wait)},
      {"vkGetSemaphoreCounterValue", as_void(&counter)},
      {"vkSignalSemaphore", as_void(&signal)},
      {"vkDestroySemaphore", as_void(&destroy_semaphore)},
      {"vkDeviceWaitIdle", as_void(&wait_idle)},
      {"vkGetInstanceProcAddr", as_void(&find_of_instance)},
      {"vkGetDeviceProcAddr", as_void(&find_of_device)}};
  const auto* found = std::ranges::find(kAll, wanted, &Intercepted::name);
  return found == std::end(kAll) ? nullptr : found->function;
}

PFN_vkVoidFunction VKAPI_CALL find_of_instance(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction mine = interceptor_of(name);
  return mine != nullptr ? mine : instance_of(instance).next(instance, name);
}

PFN_vkVoidFunction VKAPI_CALL find_of_device(VkDevice device, const char* name) {
  const PFN_vkVoidFunction mine = interceptor_of(name);
  return mine != nullptr ? mine : device_of(device).next(device, name);
}

}  // namespace
}  // namespace reprise::transfer_layer

// What the loader looks for.
extern "C" REPRISE_TRANSFER_LAYER_API VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* version) {
  version->loaderLayerInterfaceVersion = 2;
  version->pfnGetInstanceProcAddr = reprise::transfer_layer::find_of_instance;
  version->pfnGetDeviceProcAddr = reprise::transfer_layer::find_of_device;
  version->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
