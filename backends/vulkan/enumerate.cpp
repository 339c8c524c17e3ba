// Lists devices without opening one. A machine without a driver is an empty list, not an error.
#include "backends/vulkan/instance.h"
#include "backends/vulkan/kernel_families.h"
#include "backends/vulkan/limits.h"
#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/vulkan_backend.h"
#include "reprise/core/error.h"

namespace reprise::vulkan {

std::vector<DeviceDescription> enumerate() {
  std::vector<DeviceDescription> found;
  try {
    const Instance instance(false, nullptr);
    for (const PhysicalDevice& device : usable_devices(instance.get())) {
      DeviceTraits traits = traits_of(device);
      traits.max_binding_bytes = largest_binding(device, traits.kernels);
      found.push_back({info_of(device), capabilities_of(device, traits)});
    }
  } catch (const Error& error) {
    // The loader reports missing drivers as an incompatible or uninitialised one.
    if (error.code() != ErrorCode::unsupported) {
      throw;
    }
  }
  return found;
}

}  // namespace reprise::vulkan
