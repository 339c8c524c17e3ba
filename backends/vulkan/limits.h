// What a physical device allows, in the words of the framework, and less of it for tests.
#pragma once
#include <vector>

#include "backends/vulkan/physical_device.h"
#include "reprise/core/open_options.h"

namespace reprise::vulkan {

/// The device as if its driver allowed no more than that.
PhysicalDevice lowered(const PhysicalDevice& device, const LoweredLimits& limits);

std::vector<HeapInfo> heaps_of(const PhysicalDevice& device);
/// Asks the driver, where it can be asked.
void add_driver_budget(const PhysicalDevice& device, std::vector<HeapInfo>& heaps);

/// Whether device memory of this type is the host's memory too; whether there is such a type.
bool is_shared(const PhysicalDevice& device, std::uint32_t memory_type);
bool shares_memory(const PhysicalDevice& device);

/// `traits`: of the opened device.
BackendCapabilities capabilities_of(const PhysicalDevice& device, const DeviceTraits& traits);

}  // namespace reprise::vulkan
