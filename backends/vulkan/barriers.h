// The three barriers of the backend. All are global memory barriers: a barrier per buffer names
// more and drivers widen it anyway.
#pragma once
#include <vulkan/vulkan.h>

namespace reprise::vulkan {

/// First command of every encoding: after whatever was submitted before, its queries included.
/// `after_host`: and after what the host wrote since it was submitted.
void opening_barrier(VkCommandBuffer commands, bool after_host);
/// Between steps: dispatches and copies before to dispatches and copies after. `grids_written`: and
/// to the grids that dispatches after it read. Where that is asked for without need, a chain of
/// small kernels takes twice as long on NVIDIA's driver (bench/README.md).
void step_barrier(VkCommandBuffer commands, bool grids_written);
/// Everything before to the host.
void host_barrier(VkCommandBuffer commands);

}  // namespace reprise::vulkan
