// Which family of kernels a device runs, from what it can do.
#pragma once
#include "backends/vulkan/physical_device.h"
#include "reprise/core/kernel_choice.h"

namespace reprise::vulkan {

/// The kernels made for the device, or the portable ones if it lacks something they need.
KernelFamily kernels_for(const PhysicalDevice& device);
/// Throws unsupported if the device cannot run the family.
void require_kernels(const PhysicalDevice& device, KernelFamily family);
/// The most bytes one binding of a kernel of the family may have.
std::uint64_t largest_binding(const PhysicalDevice& device, KernelFamily family);

}  // namespace reprise::vulkan
