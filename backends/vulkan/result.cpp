#include "backends/vulkan/result.h"

#include <string>
#include <utility>

namespace reprise::vulkan {
namespace {

constexpr std::pair<VkResult, std::string_view> kNames[] = {
    {VK_SUCCESS, "VK_SUCCESS"},
    {VK_NOT_READY, "VK_NOT_READY"},
    {VK_TIMEOUT, "VK_TIMEOUT"},
    {VK_INCOMPLETE, "VK_INCOMPLETE"},
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED"},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
    {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED"},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT"},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT"},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT"},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER"},
    {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS"},
    {VK_ERROR_FRAGMENTED_POOL, "VK_ERROR_FRAGMENTED_POOL"},
    {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY"},
    {VK_ERROR_FRAGMENTATION, "VK_ERROR_FRAGMENTATION"},
    {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN"},
};

ErrorCode code_of(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:
      return ErrorCode::out_of_memory;
    case VK_ERROR_DEVICE_LOST:
      return ErrorCode::device_lost;
    case VK_TIMEOUT:
    case VK_NOT_READY:
      return ErrorCode::timeout;
    case VK_ERROR_INITIALIZATION_FAILED:  // the loader's word for a driver that cannot start here
    case VK_ERROR_LAYER_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return ErrorCode::unsupported;
    default:
      return ErrorCode::driver_error;
  }
}

}  // namespace

std::string_view name_of(VkResult result) {
  for (const auto& [value, name] : kNames) {
    if (value == result) {
      return name;
    }
  }
  return "a VkResult unknown here";
}

Error error_of(VkResult result, std::string_view call) {
  return {code_of(result), std::string(call) + " failed with " + std::string(name_of(result)) +
                               " (" + std::to_string(static_cast<int>(result)) + ")."};
}

void check(VkResult result, std::string_view call) {
  if (result != VK_SUCCESS) {
    throw error_of(result, call);
  }
}

}  // namespace reprise::vulkan
