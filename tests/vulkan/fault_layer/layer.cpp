// A Vulkan layer that makes calls fail (faults.h). It is an implicit layer, so it lies above the
// validation layer, which a program enables itself: validation sees only calls that the driver
// sees too, and judges what the program does after a failure by what has really happened. Below
// it, validation would take some failed calls for done and answer with messages about itself.
#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <type_traits>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "tests/vulkan/fault_layer/faults.h"

namespace reprise::fault {
namespace {

// The loader's table: the first word of every dispatchable handle, the same for an instance and its
// physical devices, and for a device and its queues and command buffers.
using Key = const void*;
template <class Handle>
Key key_of(Handle handle) {
  return *reinterpret_cast<const void* const*>(handle);
}

struct Instance {
  VkInstance handle;
  PFN_vkGetInstanceProcAddr next;
  // Asked for once: when the instance is complete, the loader answers some names with the top of
  // the chain, which is this layer.
  std::array<PFN_vkVoidFunction, kEntryPointCount> below{};
  PFN_vkDestroyInstance destroy;

  Instance(VkInstance of, PFN_vkGetInstanceProcAddr layer_below)
      : handle(of),
        next(layer_below),
        destroy(reinterpret_cast<PFN_vkDestroyInstance>(layer_below(of, "vkDestroyInstance"))) {
    for (std::size_t i = 0; i < kEntryPointCount; ++i) {
      below[i] = next(handle, kEntryPoints[i].name.data());
    }
  }
  PFN_vkVoidFunction find(const char* name) const {
    const auto* known = std::ranges::find(kEntryPoints, name, &EntryPoint::name);
    const auto index = static_cast<std::size_t>(known - std::begin(kEntryPoints));
    return index == kEntryPointCount ? next(handle, name) : below[index];
  }
};

struct Device {
  VkDevice handle;
  PFN_vkGetDeviceProcAddr next;
  bool lost = false;
  PFN_vkVoidFunction find(const char* name) const { return next(handle, name); }
};

struct State {
  std::mutex mutex;
  Fault fault;
  std::uint64_t hits = 0;
  std::array<std::uint64_t, kEntryPointCount> counts{};
  std::map<Key, Instance> instances;
  std::map<Key, Device> devices;
  std::map<VkSemaphore, std::uint64_t> seen;  // values the program knows

  bool hangs() const { return hits > 0 && fault.later && fault.result == VK_TIMEOUT; }
};

State& state() {
  static State all;
  return all;
}

template <class Function>
Function as(PFN_vkVoidFunction function) {
  return reinterpret_cast<Function>(function);
}

/// Counts a call. VK_SUCCESS: it goes on to the driver.
VkResult answer(std::size_t call) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const std::uint64_t n = ++s.counts[call];
  if (kEntryPoints[call].name != s.fault.call || s.fault.k == 0 || n < s.fault.k ||
      (n > s.fault.k && !s.fault.later)) {
    return VK_SUCCESS;
  }
  ++s.hits;
  return s.fault.result;
}

template <class Handle>
inline constexpr bool kOfInstance =
    std::is_same_v<Handle, VkInstance> || std::is_same_v<Handle, VkPhysicalDevice>;

template <class Handle>
auto owner_of(Handle handle) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if constexpr (kOfInstance<Handle>) {
    return s.instances.at(key_of(handle));
  } else {
    return s.devices.at(key_of(handle));
  }
}

/// Loses the device if that is the answer; a lost one answers nothing else any more.
VkResult consider_loss(const Device& device, Kind kind, VkResult result) {
  if (device.lost && kind != Kind::creation) {
    return VK_ERROR_DEVICE_LOST;
  }
  if (result == VK_ERROR_DEVICE_LOST) {
    as<PFN_vkDeviceWaitIdle>(device.find("vkDeviceWaitIdle"))(device.handle);
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.devices.at(key_of(device.handle)).lost = true;
  }
  return result;
}

/// Semaphores of a device that hangs stay where the program saw them last.
void look_at(VkSemaphore semaphore, std::uint64_t& value) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.hangs()) {
    value = s.seen[semaphore];
  } else {
    s.seen[semaphore] = value;
  }
}

void look(VkDevice /*device*/, VkSemaphore semaphore, std::uint64_t* value) {
  look_at(semaphore, *value);
}
void look(VkDevice /*device*/, const VkSemaphoreWaitInfo* info, std::uint64_t /*timeout*/) {
  for (std::uint32_t i = 0; i < info->semaphoreCount; ++i) {
    std::uint64_t value = info->pValues[i];
    look_at(info->pSemaphores[i], value);
  }
}
template <class... Args>
void look(Args... /*args*/) {}

template <std::size_t kCall, class Function>
struct Interceptor;

template <std::size_t kCall, class Handle, class... Args>
struct Interceptor<kCall, VkResult(VKAPI_PTR*)(Handle, Args...)> {
  static VKAPI_ATTR VkResult VKAPI_CALL call(Handle handle, Args... args) {
    using Function = VkResult(VKAPI_PTR*)(Handle, Args...);
    const auto owner = owner_of(handle);
    VkResult result = answer(kCall);
    if constexpr (!kOfInstance<Handle>) {
      result = consider_loss(owner, kEntryPoints[kCall].kind, result);
    }
    if (result != VK_SUCCESS) {
      return result;
    }
    result = as<Function>(owner.find(kEntryPoints[kCall].name.data()))(handle, args...);
    if (result == VK_SUCCESS) {
      look(handle, args...);
    }
    return result;
  }
};

/// The layer's link in what the loader passes along in pNext; moved on to the layer below.
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

template <>
struct Interceptor<index_of("vkCreateInstance"), PFN_vkCreateInstance> {
  static VKAPI_ATTR VkResult VKAPI_CALL call(const VkInstanceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkInstance* instance) {
    const auto next =
        take_link<VkLayerInstanceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO)
            ->pfnNextGetInstanceProcAddr;
    VkResult result = answer(index_of("vkCreateInstance"));
    if (result == VK_SUCCESS) {
      result =
          as<PFN_vkCreateInstance>(next(nullptr, "vkCreateInstance"))(info, allocator, instance);
    }
    if (result == VK_SUCCESS) {
      const std::lock_guard lock(state().mutex);
      state().instances.insert_or_assign(key_of(*instance), Instance{*instance, next});
    }
    return result;
  }
};

template <>
struct Interceptor<index_of("vkCreateDevice"), PFN_vkCreateDevice> {
  static VKAPI_ATTR VkResult VKAPI_CALL call(VkPhysicalDevice physical,
                                             const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkDevice* device) {
    const auto* link =
        take_link<VkLayerDeviceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    const auto next = link->pfnNextGetDeviceProcAddr;
    const auto create = as<PFN_vkCreateDevice>(
        link->pfnNextGetInstanceProcAddr(owner_of(physical).handle, "vkCreateDevice"));
    VkResult result = answer(index_of("vkCreateDevice"));
    if (result == VK_SUCCESS) {
      result = create(physical, info, allocator, device);
    }
    if (result == VK_SUCCESS) {
      const std::lock_guard lock(state().mutex);
      state().devices.insert_or_assign(key_of(*device), Device{*device, next});
    }
    return result;
  }
};

VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                            const VkAllocationCallbacks* allocator) {
  if (instance == VK_NULL_HANDLE) {
    return;
  }
  const Key key = key_of(instance);
  owner_of(instance).destroy(instance, allocator);
  const std::lock_guard lock(state().mutex);
  state().instances.erase(key);
}

VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks* allocator) {
  if (device == VK_NULL_HANDLE) {
    return;
  }
  const Key key = key_of(device);
  as<PFN_vkDestroyDevice>(owner_of(device).find("vkDestroyDevice"))(device, allocator);
  const std::lock_guard lock(state().mutex);
  state().devices.erase(key);
}

PFN_vkVoidFunction VKAPI_CALL find_of_instance(VkInstance instance, const char* name);
PFN_vkVoidFunction VKAPI_CALL find_of_device(VkDevice device, const char* name);

struct Intercepted {
  std::string_view name;
  PFN_vkVoidFunction function;
};

/// Null for calls that are not intercepted.
PFN_vkVoidFunction interceptor_of(std::string_view wanted) {
#define REPRISE_FAULT_INTERCEPTED(name, kind) \
  {#name, as_void(&Interceptor<index_of(#name), PFN_##name>::call)},
  const auto as_void = [](auto* function) {
    return reinterpret_cast<PFN_vkVoidFunction>(function);
  };
  static const Intercepted kAll[] = {REPRISE_FAULT_CALLS(REPRISE_FAULT_INTERCEPTED){
                                         "vkDestroyInstance", as_void(&destroy_instance)},
                                     {"vkDestroyDevice", as_void(&destroy_device)},
                                     {"vkGetInstanceProcAddr", as_void(&find_of_instance)},
                                     {"vkGetDeviceProcAddr", as_void(&find_of_device)}};
#undef REPRISE_FAULT_INTERCEPTED
  const auto* found = std::ranges::find(kAll, wanted, &Intercepted::name);
  return found == std::end(kAll) ? nullptr : found->function;
}

/// Extensions that are not enabled have no functions, here either.
template <class Handle>
PFN_vkVoidFunction find(Handle handle, const char* name) {
  const PFN_vkVoidFunction mine = interceptor_of(name);
  const PFN_vkVoidFunction next = owner_of(handle).find(name);
  return next != nullptr && mine != nullptr ? mine : next;
}

PFN_vkVoidFunction VKAPI_CALL find_of_instance(VkInstance instance, const char* name) {
  // The loader asks for this one with the handle of an instance that does not exist yet.
  return name == std::string_view("vkCreateInstance") ? interceptor_of(name) : find(instance, name);
}

PFN_vkVoidFunction VKAPI_CALL find_of_device(VkDevice device, const char* name) {
  return find(device, name);
}

template <class Chain, class... Args>
VkResult pass_down(std::size_t call, const Chain* chain, Args... args) {
  const VkResult result = answer(call);
  return result == VK_SUCCESS ? chain->CallDown(args...) : result;
}

}  // namespace

void inject(const Fault& fault) {
  const std::lock_guard lock(state().mutex);
  state().fault = fault;
  state().hits = 0;
  state().counts = {};
  state().seen.clear();
}

std::uint64_t hits() {
  const std::lock_guard lock(state().mutex);
  return state().hits;
}

std::uint64_t calls(std::string_view name) {
  const auto* found = std::ranges::find(kEntryPoints, name, &EntryPoint::name);
  const auto index = static_cast<std::size_t>(found - std::begin(kEntryPoints));
  const std::lock_guard lock(state().mutex);
  return index == kEntryPointCount ? 0 : state().counts[index];
}

std::size_t live_objects() {
  const std::lock_guard lock(state().mutex);
  return state().instances.size() + state().devices.size();
}

}  // namespace reprise::fault

// What the manifest names.
extern "C" {

REPRISE_FAULT_API VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* version) {
  version->loaderLayerInterfaceVersion = 2;
  version->pfnGetInstanceProcAddr = reprise::fault::find_of_instance;
  version->pfnGetDeviceProcAddr = reprise::fault::find_of_device;
  version->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}

REPRISE_FAULT_API VKAPI_ATTR VkResult VKAPI_CALL fault_enumerate_extensions(
    const VkEnumerateInstanceExtensionPropertiesChain* chain, const char* layer,
    std::uint32_t* count, VkExtensionProperties* properties) {
  return reprise::fault::pass_down(
      reprise::fault::index_of("vkEnumerateInstanceExtensionProperties"), chain, layer, count,
      properties);
}

REPRISE_FAULT_API VKAPI_ATTR VkResult VKAPI_CALL
fault_enumerate_layers(const VkEnumerateInstanceLayerPropertiesChain* chain, std::uint32_t* count,
                       VkLayerProperties* properties) {
  return reprise::fault::pass_down(reprise::fault::index_of("vkEnumerateInstanceLayerProperties"),
                                   chain, count, properties);
}

REPRISE_FAULT_API VKAPI_ATTR VkResult VKAPI_CALL
fault_enumerate_version(const VkEnumerateInstanceVersionChain* chain, std::uint32_t* version) {
  return reprise::fault::pass_down(reprise::fault::index_of("vkEnumerateInstanceVersion"), chain,
                                   version);
}

}  // extern "C"
