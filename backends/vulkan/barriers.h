// The three barriers of the backend. All are global memory barriers: a barrier per buffer names
// more and drivers widen it anyway.
#pragma once
#include <vulkan/vulkan.h>

namespace reprise::vulkan {

/// First command of every encoding: after whatever was submitted before, its queries included.
/// `after_host`: and after what the host wrote since it was submitted.
void opening_barrier(VkCommandBuffer commands, bool after_host);
/// Between steps: dispatches and copies before to dispatches and copies after.
void step_barrier(VkCommandBuffer commands);
/// Everything before to the host.
void host_barrier(VkCommandBuffer commands);

}  // namespace reprise::vulkan
