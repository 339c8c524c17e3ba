// The Vulkan calls that can be made to fail, one line each. A call that returns a VkResult and is
// made in backends/vulkan has to be here (tests/structure/fault_coverage.cmake).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reprise::fault {

/// What a failure of a call means.
enum class Kind : std::uint8_t {
  creation,  // there is not enough memory for what is made
  work,      // the device may be found lost, and stays lost
  wait,      // as work, or the time is over
};

/// Calls made while there is no instance: they reach a layer by another way than all others.
#define REPRISE_FAULT_CALLS_BEFORE_INSTANCE(X)        \
  X(vkEnumerateInstanceExtensionProperties, creation) \
  X(vkEnumerateInstanceLayerProperties, creation)     \
  X(vkEnumerateInstanceVersion, creation)

#define REPRISE_FAULT_CALLS(X)                                \
  X(vkAllocateCommandBuffers, creation)                       \
  X(vkAllocateDescriptorSets, creation)                       \
  X(vkAllocateMemory, creation)                               \
  X(vkBeginCommandBuffer, creation)                           \
  X(vkBindBufferMemory, creation)                             \
  X(vkCreateBuffer, creation)                                 \
  X(vkCreateBufferView, creation)                             \
  X(vkCreateCommandPool, creation)                            \
  X(vkCreateComputePipelines, creation)                       \
  X(vkCreateDebugUtilsMessengerEXT, creation)                 \
  X(vkCreateDescriptorPool, creation)                         \
  X(vkCreateDescriptorSetLayout, creation)                    \
  X(vkCreateDescriptorUpdateTemplate, creation)               \
  X(vkCreateDevice, creation)                                 \
  X(vkCreateInstance, creation)                               \
  X(vkCreatePipelineCache, creation)                          \
  X(vkCreatePipelineLayout, creation)                         \
  X(vkCreateQueryPool, creation)                              \
  X(vkCreateSemaphore, creation)                              \
  X(vkCreateShaderModule, creation)                           \
  X(vkDeviceWaitIdle, work)                                   \
  X(vkEndCommandBuffer, creation)                             \
  X(vkEnumerateDeviceExtensionProperties, creation)           \
  X(vkEnumeratePhysicalDevices, creation)                     \
  X(vkGetCalibratedTimestampsEXT, creation)                   \
  X(vkGetMemoryHostPointerPropertiesEXT, creation)            \
  X(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT, creation) \
  X(vkGetPipelineCacheData, creation)                         \
  X(vkGetQueryPoolResults, work)                              \
  X(vkGetSemaphoreCounterValue, work)                         \
  X(vkMapMemory, creation)                                    \
  X(vkQueueSubmit2, work)                                     \
  X(vkResetCommandPool, creation)                             \
  X(vkResetDescriptorPool, creation)                          \
  X(vkSetDebugUtilsObjectNameEXT, creation)                   \
  X(vkSignalSemaphore, work)                                  \
  X(vkWaitSemaphores, wait)

struct EntryPoint {
  std::string_view name;
  Kind kind;
};

#define REPRISE_FAULT_ENTRY(name, kind) {#name, Kind::kind},
inline constexpr EntryPoint kEntryPoints[] = {REPRISE_FAULT_CALLS_BEFORE_INSTANCE(
    REPRISE_FAULT_ENTRY) REPRISE_FAULT_CALLS(REPRISE_FAULT_ENTRY)};
#undef REPRISE_FAULT_ENTRY

inline constexpr std::size_t kEntryPointCount = std::size(kEntryPoints);

/// Does not compile for a name that is not listed.
consteval std::size_t index_of(std::string_view name) {
  std::size_t i = 0;
  while (kEntryPoints[i].name != name) {
    ++i;
  }
  return i;
}

}  // namespace reprise::fault
